package store

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"quotary/shared/aws/attr"
	"quotary/shared/store/schema"
)

// InvalidRowsError reports rows that can never be written: one without a key, too
// large, or refused by DynamoDB as invalid. All other rows of the call have been
// written. Missing rights, tables or capacity are never reported so.
type InvalidRowsError struct {
	Rows []InvalidRow // at least one
}

// InvalidRow is a row that cannot be written.
type InvalidRow struct {
	Index  int // in the rows of the call
	Reason error
}

// Error names the first rows.
func (e *InvalidRowsError) Error() string {
	const named = 3
	var b strings.Builder
	fmt.Fprintf(&b, "%d invalid rows", len(e.Rows))
	for i, r := range e.Rows[:min(named, len(e.Rows))] {
		fmt.Fprintf(&b, "%s row %d: %s", [2]string{":", ";"}[min(i, 1)], r.Index, r.Reason)
	}
	if len(e.Rows) > named {
		b.WriteString("; and more")
	}
	return b.String()
}

// Limits of DynamoDB, in bytes.
const (
	maxPartitionKey = 2048
	maxSortKey      = 1024
	maxItem         = 400 << 10 // with the names of the attributes
)

var (
	errUTF8  = errors.New("a text is not UTF-8")
	errEmpty = errors.New("a key is empty")
)

// validate finds what DynamoDB would refuse an item for. The partition keys of
// the table and of its indexes have the same limit.
func validate(it item) error {
	size := 0
	for name, value := range it {
		size += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			size += len(v.Value)
			if !utf8.ValidString(v.Value) {
				return errUTF8
			}
			if limit := keyLimit(name); limit > 0 && len(v.Value) > limit {
				return fmt.Errorf("the key %q has %d bytes, more than %d", name, len(v.Value), limit)
			} else if limit > 0 && v.Value == "" {
				return errEmpty
			}
		case *types.AttributeValueMemberB:
			size += len(v.Value)
		case *types.AttributeValueMemberN:
			size += len(v.Value)/2 + 2 // at most
		}
	}
	if size > maxItem {
		return fmt.Errorf("the row has %d bytes, more than %d", size, maxItem)
	}
	return nil
}

// storable reports whether a row can have been written under a partition key.
func storable(pk string) bool { return validate(item{attrPK: attr.S(pk)}) == nil }

// keyLimit is how long a key may be, 0 for an attribute that is none.
func keyLimit(name string) int {
	switch name {
	case attrSK:
		return maxSortKey
	case attrPK:
		return maxPartitionKey
	}
	for _, index := range schema.LogIndexes {
		if name == index.Partition {
			return maxPartitionKey
		}
	}
	return 0
}

// refused reports whether DynamoDB calls what it was sent invalid.
func refused(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "ValidationException"
}
