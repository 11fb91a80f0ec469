package tablefile_test

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

// withWords is a file whose last column, of sets, has so many bytes of empty words in its dictionary besides.
func withWords(t *testing.T, whole []byte, bytes int) []byte {
	t.Helper()
	meta, end := footerOf(t, whole)
	columns := meta.RowGroups[0].Columns
	column := &columns[len(columns)-1].MetaData
	chunk := whole[column.DictionaryPageOffset:][:column.TotalCompressedSize]
	pages := chunk[column.DataPageOffset-column.DictionaryPageOffset:]
	var page format.PageHeader
	must.Do(t, thrift.NewDecoder(compact.NewReaderFromBytes(chunk)).Decode(&page))
	packed := chunk[:len(chunk)-len(pages)][len(chunk)-len(pages)-int(page.CompressedPageSize):]
	words := must.Get(must.Get(zstd.NewReader(nil))(t).DecodeAll(packed, nil))(t)
	words = append(words, make([]byte, bytes)...)
	packed = must.Get(zstd.NewWriter(nil))(t).EncodeAll(words, nil)
	page.UncompressedPageSize, page.CompressedPageSize = int32(len(words)), int32(len(packed))
	page.DictionaryPageHeader.V.NumValues += int32(bytes / 4)
	page.CRC = 0
	dictionary := append(must.Get(thrift.Marshal(compact, page))(t), packed...)
	column.DictionaryPageOffset = int64(end)
	column.DataPageOffset = int64(end + len(dictionary))
	column.TotalCompressedSize = int64(len(dictionary) + len(pages))
	return withFooter(t, slices.Concat(whole[:end], dictionary, pages), meta)
}

var compact = new(thrift.CompactProtocol)

// footerOf is what a file says of itself, and where that begins.
func footerOf(t *testing.T, whole []byte) (meta format.FileMetaData, begin int) {
	t.Helper()
	end := len(whole) - 8
	begin = end - int(binary.LittleEndian.Uint32(whole[end:]))
	must.Do(t, thrift.NewDecoder(compact.NewReaderFromBytes(whole[begin:end])).Decode(&meta))
	return meta, begin
}

// withFooter is a file that says so of itself.
func withFooter(t *testing.T, pages []byte, meta format.FileMetaData) []byte {
	t.Helper()
	footer := must.Get(thrift.Marshal(compact, meta))(t)
	return append(binary.LittleEndian.AppendUint32(append(pages, footer...), uint32(len(footer))), "PAR1"...)
}

func TestAFileHasNoMoreRowsThanItHasRoomFor(t *testing.T) {
	t.Parallel()
	whole := must.Get(tablefile.Bytes(nil, &tablefile.Part{Addresses: make([]table.Address, 2)}))(t)
	for rows, fine := range map[int64]bool{1 << 20: true, 1<<20 + 1<<10: false, 1 << 25: false} {
		meta, end := footerOf(t, whole)
		meta.NumRows, meta.RowGroups[0].NumRows = rows, rows
		body := withFooter(t, slices.Clone(whole[:end]), meta)
		if _, err := tablefile.Open(t.Context(), &file{bytes: body}, int64(len(body))); (err == nil) != fine {
			t.Errorf("%d rows in %d bytes: %v", rows, len(body), err)
		}
	}
}

// Megabytes of empty words are some hundred bytes in a file, and each block of a column has all of them.
func TestWordsThatNobodyUsesTakeNoRoomOfTheirOwn(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const rows, bytes, most = 200_000, 16 << 20, 256 << 20
	names := make([][]string, rows)
	for i := range names {
		names[i] = []string{"BTC", "ETH"}[:i%3]
	}
	p := &tablefile.Part{Addresses: make([]table.Address, rows), Names: func(int) ([][]string, error) { return names, nil }}
	whole := must.Get(tablefile.Bytes([]tablefile.Column{{Name: "coins", Kind: tablefile.Names}}, p))(t)
	want := [][]string{nil, {"BTC"}, {"BTC", "ETH"}, {"BTC"}}
	body := withWords(t, whole, bytes)
	f := must.Get(tablefile.Open(t.Context(), &file{bytes: body}, int64(len(body))))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	blocks, err := f.Sets(t.Context(), "coins")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > most {
		t.Errorf("a file of %d bytes takes %d, %v", len(body), n, err)
	}
	for i, row := range []int{0, 1, 2, rows - 1} {
		if b := &blocks[row/table.BlockRows]; !slices.Equal(b.Of(row%table.BlockRows), want[i]) {
			t.Errorf("row %d belongs to %v", row, b.Of(row%table.BlockRows))
		}
	}
}
