package hyperliquid

import (
	"runtime"
	"strings"
	"testing"

	"quotary/shared/market"
)

// What cannot be read costs as much as it is long: what is said of the first of it stands for all.
func TestEventsThatCannotBeReadCostWhatTheyAreLong(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const event = `{"time":"x","hash":"0x","inner":{"LedgerUpdate":{"users":[],"delta":{}}}}`
	allocated := func(events int) uint64 {
		line := `{"block_number":1,"events":[` + strings.Repeat(event+",", events-1) + event + `]}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var e market.Events
		skipped, err := ReadMisc(&e, line, 0)
		if err != nil {
			_ = err.Error()
		}
		runtime.ReadMemStats(&after)
		if skipped != events || err == nil || len(err.Error()) > 1000 {
			t.Fatalf("%d of %d were skipped, with %d bytes said of them", skipped, events, len(err.Error()))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(500), allocated(5000); many > 15*few {
		t.Errorf("500 events allocate %d bytes, and 5,000 of them %d", few, many)
	}
}
