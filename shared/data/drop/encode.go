package drop

import (
	"bytes"
	"encoding/json"
)

// Encode writes values as the lines of a drop. It panics on what JSON cannot hold: lines are
// structs of texts, numbers and booleans.
func Encode[T any](lines []T) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for i := range lines {
		if err := encoder.Encode(&lines[i]); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}
