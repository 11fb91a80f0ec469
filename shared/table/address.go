package table

import (
	"encoding/hex"
	"strings"
)

// AddressOf is the address that is written as 0x and 40 hex digits; false for any other text.
func AddressOf(text string) (a Address, ok bool) {
	digits, found := strings.CutPrefix(text, "0x")
	if !found || len(digits) != 2*len(a) {
		return a, false
	}
	_, err := hex.Decode(a[:], []byte(digits))
	return a, err == nil
}

// AddressText writes an address, in small letters.
func AddressText(a Address) string { return "0x" + hex.EncodeToString(a[:]) }
