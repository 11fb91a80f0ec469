// Package lenient reads the JSON that others write as encoding/json does, but for one
// thing: a value of another type than is expected counts as missing, instead of costing
// everything beside it. Whoever reads checks what has to be there.
package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Object reads an object into the struct or map that v points to. It fails on what is no
// JSON, and on JSON that is no object.
func Object(data []byte, v any) error { return read(data, '{', "object", v) }

// List reads a list into the slice that v points to. An element of another type is the
// zero value. It fails on what is no JSON, and on JSON that is no list.
func List(data []byte, v any) error { return read(data, '[', "list", v) }

func read(data []byte, first byte, kind string, v any) error {
	var another *json.UnmarshalTypeError
	if err := json.Unmarshal(data, v); err != nil && !errors.As(err, &another) {
		return err
	}
	if text := bytes.TrimLeft(data, " \t\r\n"); text[0] != first {
		return fmt.Errorf("it is no %s", kind)
	}
	return nil
}

// Text is a text, or what else there is as it was written: decimals come as texts and as
// numbers. null is "".
type Text string

// UnmarshalJSON never fails.
func (t *Text) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*t = Text(text)
	} else {
		*t = Text(b)
	}
	return nil
}
