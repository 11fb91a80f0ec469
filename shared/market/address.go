package market

import (
	"bytes"
	"encoding/hex"
)

// CompareAccounts is the order of two addresses as they are stored, which is that of their texts.
func CompareAccounts(a, b [20]byte) int { return bytes.Compare(a[:], b[:]) }

// ParseAccount reads an address, 0x and 40 hex digits, as the 20 bytes that it stands for; ok is false
// for any other text.
func ParseAccount(text string) (id [20]byte, ok bool) {
	if len(text) != 2+2*len(id) || text[:2] != "0x" {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(text[2:]))
	return id, err == nil
}

// AddressOf writes an address, 0x and 40 lower-case hex digits.
func AddressOf(id [20]byte) string { return "0x" + hex.EncodeToString(id[:]) }
