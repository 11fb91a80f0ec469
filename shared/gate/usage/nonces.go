package usage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// ErrNonceUsed is returned for a nonce that belongs to another request.
var ErrNonceUsed = errors.New("nonce already used")

// Nonces remembers which nonces each key has used, as long as a signature over
// them could still be valid.
type Nonces struct {
	db    DynamoDB
	table string
	clock func() time.Time
}

// NewNonces returns nonces kept in the named table.
func NewNonces(db DynamoDB, table string, clock func() time.Time) *Nonces {
	return &Nonces{db: db, table: table, clock: clock}
}

// Use gives the nonce of key to a request until the given moment. Whoever else comes
// with the same pair gets [ErrNonceUsed], however close behind the first. Request
// names one that may be repeated, as clients repeat a signed URL that was answered
// with 429 or 5xx: the nonce is accepted again with the same name. "" is a request
// that may not be. The expiry is part of the condition: the table deletes expired
// items in its own time.
func (n *Nonces) Use(ctx context.Context, key, nonce, request string, until time.Time) error {
	record := item(noncePrefix+key+"#"+nonce, "n")
	record["exp"] = attr.N(until.Unix())
	// A client library that repeats a write whose answer was lost must not
	// take its own record for somebody else's.
	attempt := rand.Text()
	if request != "" {
		sum := sha256.Sum256([]byte(request))
		attempt = hex.EncodeToString(sum[:16])
	}
	record["by"] = attr.S(attempt)
	_, err := n.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &n.table,
		Item:                      record,
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR exp < :now OR #by = :by"),
		ExpressionAttributeNames:  map[string]string{"#by": "by"},
		ExpressionAttributeValues: attr.Item{":now": attr.N(n.clock().Unix()), ":by": record["by"]},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrNonceUsed
	}
	if err != nil {
		return fmt.Errorf("record a nonce: %w", err)
	}
	return nil
}
