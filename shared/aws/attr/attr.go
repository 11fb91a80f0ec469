// Package attr writes and reads the attributes of DynamoDB items.
//
// S, N, B, Bool and Set make attributes. Text, Int and Bytes read one that this
// product has written itself: what is absent is zero. [Reader] reads a whole
// item and reports an attribute of an unexpected kind. [Alone] sends an update by itself.
package attr

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item as DynamoDB's client takes and returns it.
type Item = map[string]types.AttributeValue

// S returns a string.
func S(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// N returns a whole number.
func N(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// B returns bytes.
func B(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

// Bool returns a boolean.
func Bool(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

// Set returns a set of bytes, which must not be empty.
func Set(parts [][]byte) types.AttributeValue { return &types.AttributeValueMemberBS{Value: parts} }

// Text returns a string attribute, "" when there is none.
func Text(item Item, name string) string {
	r := Reader{Item: item}
	return r.Text(name)
}

// Int returns a whole number, 0 when there is none.
func Int(item Item, name string) int64 {
	r := Reader{Item: item}
	return r.Int(name)
}

// Bytes returns a binary attribute, nil when there is none.
func Bytes(item Item, name string) []byte {
	r := Reader{Item: item}
	return r.Bytes(name)
}

// Reader reads the attributes of one item. An absent attribute is zero. One of
// another kind than asked for is zero too, and sets Err.
type Reader struct {
	Item Item
	Err  error // of the first attribute that could not be read
}

// Text returns a string attribute.
func (r *Reader) Text(name string) string {
	if v := read[*types.AttributeValueMemberS](r, name); v != nil {
		return v.Value
	}
	return ""
}

// Int returns a whole number.
func (r *Reader) Int(name string) int64 {
	v := read[*types.AttributeValueMemberN](r, name)
	if v == nil {
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		r.Fail(name)
		return 0
	}
	return n
}

// Bool returns a boolean.
func (r *Reader) Bool(name string) bool {
	v := read[*types.AttributeValueMemberBOOL](r, name)
	return v != nil && v.Value
}

// Bytes returns a binary attribute.
func (r *Reader) Bytes(name string) []byte {
	if v := read[*types.AttributeValueMemberB](r, name); v != nil {
		return v.Value
	}
	return nil
}

// Set returns a set of bytes.
func (r *Reader) Set(name string) [][]byte {
	if v := read[*types.AttributeValueMemberBS](r, name); v != nil {
		return v.Value
	}
	return nil
}

// read returns an attribute, nil without one of this kind.
func read[T types.AttributeValue](r *Reader, name string) T {
	value, found := r.Item[name]
	v, ok := value.(T)
	if found && !ok {
		r.Fail(name)
	}
	return v
}

// Fail reports an attribute whose value its reader cannot use.
func (r *Reader) Fail(name string) {
	if r.Err == nil {
		r.Err = fmt.Errorf("the stored item %s %s has no readable %s", Text(r.Item, "pk"), Text(r.Item, "sk"), name)
	}
}

// Alone is the update of a transaction as a request of its own: at half its cost, and
// without holding the item.
func Alone(u *types.Update) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
		ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: u.ReturnValuesOnConditionCheckFailure,
	}
}
