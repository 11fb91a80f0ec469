// Package schema defines the tables and the bucket of a deployment, and creates
// them where no deployment does: on the local stack and for tests.
package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"quotary/shared/backoff"
	"quotary/shared/catalog"
)

// Names of the tables behind the prefix of a deployment.
const (
	LogTable         = catalog.LogTable
	SeriesTable      = catalog.SeriesTable
	KeysTable        = catalog.KeysTable
	UsageTable       = catalog.UsageTable
	ConnectionsTable = catalog.ConnectionsTable
	DocumentsTable   = catalog.DocumentsTable
)

// PK and SK are the partition key and the sort key of every table, both strings.
const (
	PK = "pk"
	SK = "sk"
)

// Expires is the attribute, in epoch seconds, after which a table may delete an item.
const Expires = "exp"

// LogIndexes are the indexes A to D of the log.
var LogIndexes = [4]Index{{"by-a", "a"}, {"by-b", "b"}, {"by-c", "c"}, {"by-d", "d"}}

// Table defines one table. It has the keys PK and SK and is billed by request.
type Table struct {
	Name string

	// Indexes lists the sparse global indexes.
	Indexes []Index

	// TTL names the attribute (number, epoch seconds) after which an item may
	// be deleted by the table itself; "" means that items stay. Deletion may
	// come days late or never: no reader may rely on it.
	TTL string

	// Stream says that the table has a change stream, which shows every
	// changed item as it was before and after.
	Stream bool
}

// Index defines one global index: its name, and the string attribute that is
// its partition key. Its sort key is `sk`, and it projects the whole item.
type Index struct {
	Name      string // DynamoDB wants at least three characters
	Partition string
}

// Tables returns the tables of a deployment, each name after the prefix.
func Tables(prefix string) []Table {
	return []Table{
		{Name: prefix + LogTable, Indexes: slices.Clone(LogIndexes[:]), TTL: Expires},
		{Name: prefix + SeriesTable},
		{Name: prefix + KeysTable},
		{Name: prefix + UsageTable, TTL: Expires},
		{Name: prefix + ConnectionsTable, TTL: Expires, Stream: true},
		{Name: prefix + DocumentsTable},
	}
}

// DynamoDB is the part of its client that Create needs.
type DynamoDB interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// Create creates the tables that do not exist yet and returns when all are
// ready. A table that exists with other keys or indexes, or without its stream,
// is an error. An engine that knows no TTL is accepted.
func Create(ctx context.Context, db DynamoDB, specs []Table) error {
	for _, spec := range specs {
		_, err := db.CreateTable(ctx, spec.input())
		var exists *types.ResourceInUseException
		if err != nil && !errors.As(err, &exists) {
			return fmt.Errorf("create table %s: %w", spec.Name, err)
		}
	}
	for _, spec := range specs {
		if err := spec.await(ctx, db); err != nil {
			return fmt.Errorf("create table %s: %w", spec.Name, err)
		}
		if err := spec.expire(ctx, db); err != nil {
			return fmt.Errorf("enable expiry of table %s: %w", spec.Name, err)
		}
	}
	return nil
}

func (s Table) input() *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   &s.Name,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   keySchema(PK),
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(PK), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(SK), AttributeType: types.ScalarAttributeTypeS},
		},
	}
	if s.Stream {
		in.StreamSpecification = &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		}
	}
	for _, index := range s.Indexes {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &index.Partition, AttributeType: types.ScalarAttributeTypeS})
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  &index.Name,
			KeySchema:  keySchema(index.Partition),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	return in
}

func keySchema(partition string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(partition), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(SK), KeyType: types.KeyTypeRange},
	}
}

// await returns when the table and its indexes are active.
func (s Table) await(ctx context.Context, db DynamoDB) error {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		out, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.Name})
		var unknown *types.ResourceNotFoundException // for a moment after its creation
		if err != nil && !errors.As(err, &unknown) {
			return err
		}
		if err == nil {
			if err := s.check(out.Table); err != nil {
				return err
			}
			if active(out.Table) {
				return nil
			}
		}
		if err := backoff.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func active(t *types.TableDescription) bool {
	return t.TableStatus == types.TableStatusActive &&
		!slices.ContainsFunc(t.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndexDescription) bool {
			return g.IndexStatus != "" && g.IndexStatus != types.IndexStatusActive
		})
}

func (s Table) check(t *types.TableDescription) error {
	if !sameKeys(t.KeySchema, PK) {
		return errors.New("it exists with other keys")
	}
	if stream := t.StreamSpecification; s.Stream &&
		(stream == nil || !aws.ToBool(stream.StreamEnabled) || stream.StreamViewType != types.StreamViewTypeNewAndOldImages) {
		return errors.New("it exists without a stream of old and new images")
	}
	if len(t.GlobalSecondaryIndexes) != len(s.Indexes) {
		return fmt.Errorf("it exists with %d indexes, not %d", len(t.GlobalSecondaryIndexes), len(s.Indexes))
	}
	for _, g := range t.GlobalSecondaryIndexes {
		same := func(i Index) bool {
			return i.Name == aws.ToString(g.IndexName) && sameKeys(g.KeySchema, i.Partition)
		}
		if !slices.ContainsFunc(s.Indexes, same) {
			return fmt.Errorf("it exists with another index %q", aws.ToString(g.IndexName))
		}
	}
	return nil
}

func sameKeys(have []types.KeySchemaElement, partition string) bool {
	return slices.EqualFunc(have, keySchema(partition), func(a, b types.KeySchemaElement) bool {
		return aws.ToString(a.AttributeName) == aws.ToString(b.AttributeName) && a.KeyType == b.KeyType
	})
}

// expire turns the TTL on where it is off: turning it on twice is an error to
// DynamoDB.
func (s Table) expire(ctx context.Context, db DynamoDB) error {
	if s.TTL == "" {
		return nil
	}
	out, err := db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &s.Name})
	if unsupported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if d := out.TimeToLiveDescription; d != nil &&
		(d.TimeToLiveStatus == types.TimeToLiveStatusEnabled || d.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		return nil
	}
	_, err = db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &s.Name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &s.TTL, Enabled: aws.Bool(true)},
	})
	if unsupported(err) {
		return nil
	}
	return err
}

func unsupported(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) &&
		slices.Contains([]string{"UnknownOperationException", "NotImplemented", "UnsupportedOperationException"}, api.ErrorCode())
}

// S3 is the part of its client that CreateBucket needs.
type S3 interface {
	CreateBucket(context.Context, *s3.CreateBucketInput, ...func(*s3.Options)) (*s3.CreateBucketOutput, error)
}

// CreateBucket creates the bucket of the views on a local S3, unless it is
// there already. On AWS the deployment creates it.
func CreateBucket(ctx context.Context, client S3, name string) error {
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
	var mine *s3types.BucketAlreadyOwnedByYou
	var taken *s3types.BucketAlreadyExists
	if err != nil && !errors.As(err, &mine) && !errors.As(err, &taken) {
		return fmt.Errorf("create bucket %s: %w", name, err)
	}
	return nil
}
