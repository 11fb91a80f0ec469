package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/contention"
)

// Documents holds the small state that callers or operators write: documents of one
// kind, each under its owner and an ID, with a revision. It is safe for concurrent
// use by any number of processes.
//
// An owner's documents are one partition, which also holds their number: creating
// and deleting one is a transaction of two items, so that no number of creators
// together exceeds the limit. Where the limit of their number is 0, there is no such
// number and no transaction, and no document is in another's way: who creates them
// bounds them.
type Documents struct {
	db     DocumentsDB
	table  string
	kind   string
	limits DocumentLimits
}

// DocumentsDB is the part of the DynamoDB client that Documents needs.
type DocumentsDB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// DocumentLimits bound what an owner may keep of one kind.
type DocumentLimits struct {
	Bytes int // of one body, below the 400 KB of a DynamoDB item
	Count int // documents of one owner; 0 is for any number, not counted
}

// Document is a state under its owner and ID.
type Document struct {
	Owner    string // not empty, e.g. a sub-key
	ID       string // not empty, unique for the owner; at most 1,000 bytes
	Revision string // opaque; every write makes a new one that no document has ever had
	Body     []byte // JSON in UTF-8
}

// What a call on documents may be refused for.
var (
	ErrNoDocument       = errors.New("there is no such document")
	ErrDocumentExists   = errors.New("the document exists already")
	ErrDocumentChanged  = errors.New("the document has another revision: it was changed since it was read")
	ErrDocumentTooLarge = errors.New("the document is too large")
	ErrTooManyDocuments = errors.New("the owner has as many documents as one may have")
)

// NewDocuments returns the documents of a kind that are kept in the table.
func NewDocuments(db DocumentsDB, table, kind string, limits DocumentLimits) *Documents {
	return &Documents{db: db, table: table, kind: kind, limits: limits}
}

// Get returns a document, strongly consistent. The error may be [ErrNoDocument].
func (d *Documents) Get(ctx context.Context, owner, id string) (Document, error) {
	key, err := d.key(owner, id)
	if err != nil {
		return Document{}, d.failed("get", owner, id, err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	out, err := d.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &d.table, Key: key.item(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return Document{}, d.failed("get", owner, id, err)
	}
	if len(out.Item) == 0 {
		return Document{}, d.failed("get", owner, id, ErrNoDocument)
	}
	doc, err := document(owner, out.Item)
	if err != nil {
		return Document{}, d.failed("get", owner, id, err)
	}
	return doc, nil
}

// List returns the documents of an owner in the order of their IDs, strongly
// consistent. Pages are read as the caller asks for documents, so what is written
// meanwhile may be in it or not. An error ends the sequence.
func (d *Documents) List(ctx context.Context, owner string) iter.Seq2[Document, error] {
	return d.ListPrefix(ctx, owner, "")
}

// ListPrefix is [Documents.List] of the documents whose IDs begin with a text.
func (d *Documents) ListPrefix(ctx context.Context, owner, prefix string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if owner == "" {
			yield(Document{}, d.failed("list", owner, "", errNoOwner))
			return
		}
		in := &dynamodb.QueryInput{
			TableName: &d.table, ConsistentRead: aws.Bool(true),
			KeyConditionExpression:    aws.String("#p = :p AND begins_with(#s, :prefix)"),
			ExpressionAttributeNames:  map[string]string{"#p": attrPK, "#s": attrSK},
			ExpressionAttributeValues: item{":p": attr.S(d.partition(owner)), ":prefix": attr.S(documentPrefix + prefix)},
		}
		for {
			out, err := d.page(ctx, in)
			if err != nil {
				yield(Document{}, d.failed("list", owner, "", err))
				return
			}
			for _, it := range out.Items {
				doc, err := document(owner, it)
				if err != nil {
					yield(Document{}, d.failed("list", owner, "", err))
					return
				}
				if !yield(doc, nil) {
					return
				}
			}
			if in.ExclusiveStartKey = out.LastEvaluatedKey; len(out.LastEvaluatedKey) == 0 {
				return
			}
		}
	}
}

// Create writes a document that does not exist and returns its revision. The error
// may be [ErrDocumentExists], [ErrDocumentTooLarge] or [ErrTooManyDocuments]; after any
// other it may have been written.
func (d *Documents) Create(ctx context.Context, owner, id string, body []byte) (revision string, err error) {
	revisions, err := d.CreateAll(ctx, owner, body, id)
	if err != nil {
		return "", err
	}
	return revisions[0], nil
}

// CreateAll writes documents of one body, or none of them, and returns their revisions: at
// most 99, as a transaction has 100 items. The error is that of [Documents.Create].
func (d *Documents) CreateAll(ctx context.Context, owner string, body []byte, ids ...string) (revisions []string, err error) {
	changes, refusals := make([]types.TransactWriteItem, 0, len(ids)+1), map[int]error{}
	for i, id := range ids {
		it, err := d.item(owner, id, body)
		if err != nil {
			return nil, d.failed("create", owner, id, err)
		}
		changes = append(changes, types.TransactWriteItem{Put: &types.Put{
			TableName: &d.table, Item: it,
			ConditionExpression:      aws.String("attribute_not_exists(#pk)"),
			ExpressionAttributeNames: map[string]string{"#pk": attrPK},
		}})
		refusals[i] = ErrDocumentExists
		revisions = append(revisions, attr.Text(it, attrRevision))
	}
	if d.limits.Count > 0 {
		changes = append(changes, types.TransactWriteItem{Update: &types.Update{
			TableName: &d.table, Key: d.count(owner).item(),
			UpdateExpression:          aws.String("ADD #n :new"),
			ConditionExpression:       aws.String("attribute_not_exists(#n) OR #n <= :most"),
			ExpressionAttributeNames:  map[string]string{"#n": attrCount},
			ExpressionAttributeValues: item{":new": attr.N(int64(len(ids))), ":most": attr.N(int64(d.limits.Count - len(ids)))},
		}})
		refusals[len(ids)] = ErrTooManyDocuments
	}
	if d.limits.Count > 0 && len(ids) > d.limits.Count {
		err = ErrTooManyDocuments
	} else {
		err = d.transact(ctx, refusals, changes...)
	}
	if err != nil {
		return nil, d.failed("create", owner, strings.Join(ids, ", "), err)
	}
	return revisions, nil
}

// Set writes a document, whatever there is of it, and returns its revision. It is for
// documents that are not counted.
func (d *Documents) Set(ctx context.Context, owner, id string, body []byte) (revision string, err error) {
	it, err := d.item(owner, id, body)
	if err == nil && d.limits.Count > 0 {
		err = errCounted
	}
	if err != nil {
		return "", d.failed("set", owner, id, err)
	}
	err = d.retry(ctx, func(ctx context.Context) error {
		_, err := d.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &d.table, Item: it})
		return err
	})
	if err != nil {
		return "", d.failed("set", owner, id, err)
	}
	return attr.Text(it, attrRevision), nil
}

// Replace writes a new body in place of the revision that the caller has read, and
// returns the new revision. Of any number of callers that replace one revision, one
// succeeds. The error may be [ErrNoDocument], [ErrDocumentChanged] or
// [ErrDocumentTooLarge]; after any other it may have been written.
func (d *Documents) Replace(ctx context.Context, owner, id, revision string, body []byte) (newRevision string, err error) {
	it, err := d.item(owner, id, body)
	if err != nil {
		return "", d.failed("replace", owner, id, err)
	}
	newRevision = attr.Text(it, attrRevision)
	in := &dynamodb.PutItemInput{TableName: &d.table, Item: it, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = ifRevision(revision)
	err = d.retry(ctx, func(ctx context.Context) error {
		_, err := d.db.PutItem(ctx, in)
		return err
	})
	var refused *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return newRevision, nil
	case !errors.As(err, &refused):
		return "", d.failed("replace", owner, id, err)
	case attr.Text(refused.Item, attrRevision) == newRevision: // the answer was lost, and the request repeated
		return newRevision, nil
	}
	return "", d.failed("replace", owner, id, mismatch(refused.Item))
}

// Delete removes the revision of a document that the caller has read. The error may
// be [ErrNoDocument] or [ErrDocumentChanged]; after any other it may have been deleted.
func (d *Documents) Delete(ctx context.Context, owner, id, revision string) error {
	key, err := d.key(owner, id)
	if err != nil {
		return d.failed("delete", owner, id, err)
	}
	remove := &types.Delete{TableName: &d.table, Key: key.item(), ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	remove.ConditionExpression, remove.ExpressionAttributeNames, remove.ExpressionAttributeValues = ifRevision(revision)
	changes := []types.TransactWriteItem{{Delete: remove}}
	if d.limits.Count > 0 {
		changes = append(changes, types.TransactWriteItem{Update: &types.Update{
			TableName: &d.table, Key: d.count(owner).item(),
			UpdateExpression:          aws.String("ADD #n :one"),
			ExpressionAttributeNames:  map[string]string{"#n": attrCount},
			ExpressionAttributeValues: item{":one": attr.N(-1)},
		}})
	}
	err = d.transact(ctx, nil, changes...)
	if err != nil {
		return d.failed("delete", owner, id, err)
	}
	return nil
}

// transact makes both changes or none. refusals are the errors of changes whose
// condition does not hold, by their index; without one it is that of another revision.
//
// All tries have one token, by which DynamoDB knows a try whose answer was lost.
func (d *Documents) transact(ctx context.Context, refusals map[int]error, changes ...types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: changes, ClientRequestToken: aws.String(rand.Text())}
	err := d.retry(ctx, func(ctx context.Context) error {
		_, err := d.db.TransactWriteItems(ctx, in)
		return err
	})
	o, _ := contention.Classify(err, len(changes))
	for i := range o {
		if !o.Refused(i) {
			continue
		}
		if refusal := refusals[i]; refusal != nil {
			return refusal
		}
		return mismatch(o[i].Item)
	}
	return err
}

// retry makes a request again, after a pause, as long as another one is changing the
// same items at this moment, or DynamoDB has no capacity, and ctx goes on.
func (d *Documents) retry(ctx context.Context, request func(context.Context) error) error {
	return contention.Retry{Pauses: pauses, Timeout: requestTimeout}.Do(ctx, request)
}

func (d *Documents) page(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return d.db.Query(ctx, in)
}

// ifRevision is the condition that an item has a revision.
func ifRevision(revision string) (condition *string, names map[string]string, values item) {
	return aws.String("#rev = :rev"), map[string]string{"#rev": attrRevision}, item{":rev": attr.S(revision)}
}

// mismatch is the error for an item that has not the revision it should have.
func mismatch(found item) error {
	if len(found) == 0 {
		return ErrNoDocument
	}
	return ErrDocumentChanged
}

var (
	errNoOwner = errors.New("a document needs an owner and an ID")
	errNoJSON  = errors.New("the body is not JSON")
	errCounted = errors.New("the owner's documents are counted")
)

// documentPrefix begins the sort keys of documents, which keeps them apart from the
// owner's count.
const documentPrefix = "d#"

func (d *Documents) partition(owner string) string { return partition(d.kind, owner) }

func (d *Documents) count(owner string) rowKey { return rowKey{d.partition(owner), "count"} }

func (d *Documents) key(owner, id string) (rowKey, error) {
	if owner == "" || id == "" {
		return rowKey{}, errNoOwner
	}
	key := rowKey{d.partition(owner), documentPrefix + id}
	return key, validate(key.item())
}

// item makes the next revision of a document.
func (d *Documents) item(owner, id string, body []byte) (item, error) {
	key, err := d.key(owner, id)
	switch {
	case err != nil:
		return nil, err
	case len(body) > d.limits.Bytes:
		return nil, fmt.Errorf("%w: it has %d bytes, and may have %d", ErrDocumentTooLarge, len(body), d.limits.Bytes)
	case !json.Valid(body):
		return nil, errNoJSON
	}
	it := key.item()
	it[attrBody], it[attrRevision] = attr.S(string(body)), attr.S(rand.Text())
	return it, validate(it)
}

func document(owner string, it item) (Document, error) {
	read := attr.Reader{Item: it}
	id, ok := strings.CutPrefix(read.Text(attrSK), documentPrefix)
	if !ok {
		read.Fail(attrSK)
	}
	return Document{Owner: owner, ID: id, Revision: read.Text(attrRevision), Body: []byte(read.Text(attrBody))}, read.Err
}

func (d *Documents) failed(what, owner, id string, err error) error {
	return fmt.Errorf("%s %s %q of %q: %w", what, d.kind, id, owner, err)
}
