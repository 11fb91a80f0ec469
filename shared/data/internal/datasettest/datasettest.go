// Package datasettest tests how datasets are stored.
package datasettest

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/market"
)

// Codec is how values of one dataset are stored.
type Codec[T any] struct {
	Values *rapid.Generator[T]
	Encode func(T) []byte
	Decode func([]byte) (T, error)

	// Use does with a decoded value what its readers do; nil is nothing.
	Use func(T)
}

// Test wants what is encoded to be decoded as the same value, and a body in which
// a few bytes were changed to be refused or to be decoded as a value that can be
// used and encoded: it may not panic.
func (c Codec[T]) Test(t *testing.T) {
	t.Parallel()
	equal := cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })}
	t.Run("what is stored is read as it was", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			value := c.Values.Draw(t, "value")
			body := c.Encode(value)
			again, err := c.Decode(bytes.Clone(body))
			if err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if diff := cmp.Diff(value, again, equal); diff != "" {
				t.Fatalf("(-stored +read):\n%s", diff)
			}
			if once := c.Encode(again); !bytes.Equal(once, body) {
				t.Fatalf("encoded again it is\n%s, was\n%s", once, body)
			}
		})
	})
	t.Run("what is broken does no harm", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			body := broken(t, c.Encode(c.Values.Draw(t, "value")))
			value, err := c.Decode(body)
			if err != nil {
				return
			}
			if c.Use != nil {
				c.Use(value)
			}
			if again := c.Encode(value); len(again) == 0 {
				t.Fatalf("%q is read, and written as nothing", body)
			}
		})
	})
}

// broken changes, takes out or repeats a few bytes of a body.
func broken(t *rapid.T, body []byte) []byte {
	body = bytes.Clone(body)
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		if len(body) == 0 {
			break
		}
		from := rapid.IntRange(0, len(body)-1).Draw(t, "from")
		to := min(len(body), from+rapid.IntRange(0, 12).Draw(t, "length"))
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			body[from] = rapid.SampledFrom([]byte(`-.0123456789eE"\{}[],:x `)).Draw(t, "byte")
		case 1:
			body[from] = rapid.Byte().Draw(t, "any byte")
		case 2:
			body = append(body[:from:from], body[to:]...)
		case 3:
			body = append(body[:to:to], body[from:]...)
		}
	}
	return body
}
