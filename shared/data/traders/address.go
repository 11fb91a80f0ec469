package traders

import (
	"encoding/hex"
	"strings"

	"quotary/shared/table"
)

// AddressOf is the address that is written as 0x and 40 hex digits; false for any other text.
func AddressOf(text string) (a table.Address, ok bool) {
	digits, found := strings.CutPrefix(text, "0x")
	if !found || len(digits) != 2*len(a) {
		return a, false
	}
	_, err := hex.Decode(a[:], []byte(digits))
	return a, err == nil
}

// TextOf writes an address, in small letters.
func TextOf(a table.Address) string { return "0x" + hex.EncodeToString(a[:]) }
