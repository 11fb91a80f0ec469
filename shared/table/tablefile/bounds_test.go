package tablefile_test

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

// A count that a broken file says is no reason to make room for as much.
func TestABrokenFileTakesNoMoreMemoryThanOneThatIsWhole(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	columns := []tablefile.Column{{Name: "pnl", Kind: tablefile.Money, Scale: 6}, {Name: "trades"}, {Name: "coins", Kind: tablefile.Names}}
	numbers, known, names := make([]int64, 200), table.NewBits(200), make([][]string, 200)
	p := &tablefile.Part{
		Addresses: make([]table.Address, 200),
		Values:    func(int) ([]int64, table.Bits, error) { return numbers, known, nil },
		Names:     func(int) ([][]string, error) { return names, nil },
	}
	for i := range numbers {
		p.Addresses[i][0], numbers[i], names[i] = byte(i), int64(i*i), []string{"BTC", "ETH"}[:i%3]
		known.Set(i)
	}
	whole := must.Get(tablefile.Bytes(columns, p))(t)
	const claim, most = "\xff\xff\xff\xff\x07", 16 << 20 // the greatest int32, and bytes
	for at := range len(whole) - len(claim) {
		for way := range 3 {
			broken := slices.Clone(whole)
			switch way {
			case 0:
				copy(broken[at:], claim)
			case 1:
				copy(broken[at:], claim[1:])
			default:
				broken[at] ^= 2 // of what says how a column is packed, it makes another that there is
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			stored := &file{bytes: broken}
			if f, err := tablefile.Open(t.Context(), stored, int64(len(broken))); err == nil {
				_, _ = f.Addresses(t.Context())
				_, _ = f.Blocks(t.Context(), "pnl")
				_, _ = f.Blocks(t.Context(), "trades")
				_, _ = f.Sets(t.Context(), "coins")
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Fatalf("a broken count at byte %d of %d takes %d bytes", at, len(whole), n)
			}
		}
	}
}

func TestAFooterThatClaimsTooMuchIsRefused(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	for name, footer := range map[string]string{
		"a list of two thousand million structs": "\x29\xfc\xff\xff\xff\xff\x07",
		"a list of a million empty structs":      "\x29\xfc\xc0\x84\x3d" + strings.Repeat("\x00", 1_000_000),
		"a text of two gigabytes":                "\x28\xff\xff\xff\xff\x07",
		"lists in lists":                         "\x19" + strings.Repeat("\x19", 10<<20),
		"structs in structs":                     strings.Repeat("\x1c", 10<<20),
	} {
		body := binary.LittleEndian.AppendUint32([]byte("PAR1"+footer), uint32(len(footer))) //nolint:gosec // it is short
		stored := &file{bytes: append(body, "PAR1"...)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := tablefile.Open(t.Context(), stored, int64(len(stored.bytes)))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 1<<20 {
			t.Errorf("%s takes %d bytes, %v", name, n, err)
		}
	}
	for _, size := range []int64{-1, 0, 7} {
		if _, err := tablefile.Open(t.Context(), &file{bytes: make([]byte, 100)}, size); err == nil {
			t.Errorf("a file of %d bytes is one", size)
		}
	}
}
