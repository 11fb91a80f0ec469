package market_test

import (
	"strings"
	"testing"

	"quotary/shared/market"
)

func TestAddressesAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	const text = "0xa11ce00000000000000000000000000000000001"
	if a, ok := market.ParseAccount(text); !ok || market.AddressOf(a) != text {
		t.Errorf("%s is read as %v, %t", text, a, ok)
	}
	for _, text := range []string{"", "0x", text[2:], text + "0", text[:len(text)-1], strings.Replace(text, "a11ce", "alice", 1)} {
		if a, ok := market.ParseAccount(text); ok {
			t.Errorf("%q is read as %v", text, a)
		}
	}
}
