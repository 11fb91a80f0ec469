package usage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
)

// ErrNonceUsed is returned for a nonce that was accepted before.
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

// Use records the nonce of key until the given moment. The second caller with
// the same pair gets [ErrNonceUsed], however close behind the first. The expiry
// is part of the condition: the table deletes expired items in its own time.
func (n *Nonces) Use(ctx context.Context, key, nonce string, until time.Time) error {
	record := item(noncePrefix+key+"#"+nonce, "n")
	record["exp"] = attr.N(until.Unix())
	// A client library that repeats a write whose answer was lost must not
	// take its own record for somebody else's.
	attempt := attr.S(rand.Text())
	record["by"] = attempt
	_, err := n.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &n.table,
		Item:                      record,
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR exp < :now OR #by = :by"),
		ExpressionAttributeNames:  map[string]string{"#by": "by"},
		ExpressionAttributeValues: attr.Item{":now": attr.N(n.clock().Unix()), ":by": attempt},
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
