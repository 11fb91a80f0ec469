package tablefile

import (
	"bytes"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"quotary/shared/table"
	"quotary/shared/testing/must"
)

func TestWhatInflatesToMoreThanItsPageIsRefused(t *testing.T) {
	t.Parallel()
	all := must.Get(zstd.NewWriter(nil, zstd.WithZeroFrames(true)))(t)
	page := func(bytes int) []byte { return all.EncodeAll(make([]byte, bytes), nil) }
	var unsized bytes.Buffer
	stream := must.Get(zstd.NewWriter(&unsized))(t)
	must.Get(stream.Write(make([]byte, 1<<20)))(t)
	must.Do(t, stream.Flush())
	must.Do(t, stream.Close())
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	for name, c := range map[string]struct {
		packed []byte
		most   int32
		ok     bool
	}{
		"nothing":                   {nil, 0, true},
		"a page of nothing":         {page(0), 0, true},
		"a page":                    {page(1000), 1000, true},
		"a page of several blocks":  {all.EncodeAll(noise, nil), 300_000, true},
		"more than the page":        {page(1 << 30 >> 4), 1000, false},
		"a second frame":            {slices.Concat(page(1000), page(1<<20)), 1000, false},
		"a frame that says no size": {unsized.Bytes(), 1 << 20, false},
		"a frame that is cut":       {page(1000)[:8], 1000, false},
		"bytes that are none of it": {[]byte("what is this, and what is it for"), 1000, false},
		"a frame that is skipped":   {[]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"), 1000, false},
		"a frame and a byte behind": {append(page(1000), 0), 1000, false},
	} {
		if err := checkPacked(c.packed, c.most); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A venue that names more perpetuals than there are does not stop who writes and reads what traded them.
func TestABlockHasNoMoreNamesThanAreRead(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"a", "b"}, nil, {"c"}, {"d", "e"}, {"f"}}
	want := [][]string{{"a", "b"}, nil, {"c"}, nil, nil}
	if got := few(rows, 5); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v are %v, want %v", rows, got, want)
	}
	rows = append(slices.Repeat([][]string{{"a", "b"}}, table.BlockRows), []string{"c"})
	if got := few(rows, 2); got[0] == nil || got[1] != nil || got[table.BlockRows] == nil {
		t.Error("a block has names of another's room")
	}
}
