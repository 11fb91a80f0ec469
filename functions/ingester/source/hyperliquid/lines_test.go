package hyperliquid

import (
	"strings"
	"testing"

	"quotary/shared/market"
)

// TestALineThatPanicsIsMalformed, and the next one is read.
func TestALineThatPanicsIsMalformed(t *testing.T) {
	t.Parallel()
	read := func(e *market.Events, line string, _ int64) (int, error) {
		if line == "wasp" {
			panic("a line with a sting")
		}
		e.Fills = append(e.Fills, market.Fill{})
		return 0, nil
	}
	var e market.Events
	if skipped, err := readLine(read, &e, []byte("wasp"), 0); skipped != 1 || err == nil || !strings.Contains(err.Error(), "a line with a sting") {
		t.Errorf("%d were skipped, %v", skipped, err)
	}
	if skipped, err := readLine(read, &e, []byte("bee"), 5); skipped != 0 || err != nil || len(e.Fills) != 1 {
		t.Errorf("of the next line %d were skipped, %v, and %d fills read", skipped, err, len(e.Fills))
	}
}
