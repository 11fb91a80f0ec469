package dataset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// JSON encodes texts, numbers and JSON that was checked, which always succeeds.
// Maps are written in the order of their keys.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("dataset: encode %T: %v", v, err))
	}
	return b
}

// FromJSON decodes a body.
func FromJSON[T any](body []byte) (value T, err error) {
	return value, json.Unmarshal(body, &value)
}

// NotNull is raw, or nil for a JSON null.
func NotNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// AppendJSON appends what [JSON] encodes.
func AppendJSON[T any](b []byte, value *T) []byte { return append(b, JSON(value)...) }

// Find returns the entry of a key among entries that are sorted by their keys; false where
// there is none.
func Find[T any](sorted []T, key string, keyOf func(*T) string) (entry T, ok bool) {
	i, ok := slices.BinarySearchFunc(sorted, key, func(e T, key string) int { return cmp.Compare(keyOf(&e), key) })
	if ok {
		entry = sorted[i]
	}
	return entry, ok
}
