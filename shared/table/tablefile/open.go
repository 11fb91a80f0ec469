package tablefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"quotary/shared/table"
)

// Ranges reads bytes of a file.
type Ranges interface {
	// Range reads n bytes from an offset on, all of them or it fails.
	Range(ctx context.Context, offset, n int64) ([]byte, error)
}

// File is a file whose columns are read when they are wanted. It may be used by several at once.
type File struct {
	ranges  Ranges
	file    *parquet.File
	columns map[string]int
	rows    int
}

// mostRows bounds the rows of a file, and mostFooter the bytes that say where what is. Beyond a million each row
// has to take some bytes, as its address cannot be packed: a few kilobytes can be millions of one address.
const (
	mostRows   = 1 << 26
	freeRows   = 1 << 20
	leastRow   = 8
	mostFooter = 16 << 20
)

// tail is read first: the footer of some hundreds of columns is smaller.
const tail = 256 << 10

var errFile = errors.New("is no file of a table")

// Open reads the footer of a file of size bytes.
func Open(ctx context.Context, ranges Ranges, size int64) (*File, error) {
	if size < 8 {
		return nil, fmt.Errorf("what has %d bytes %w", size, errFile)
	}
	n := min(tail, size)
	end, err := ranges.Range(ctx, size-n, n)
	if err != nil {
		return nil, fmt.Errorf("read the end of the file: %w", err)
	}
	if need := footerBytes(end); need > n {
		if need > min(size, mostFooter) {
			return nil, fmt.Errorf("a footer of %d bytes %w", need, errFile)
		}
		if end, err = ranges.Range(ctx, size-need, need); err != nil {
			return nil, fmt.Errorf("read the footer: %w", err)
		}
	}
	footer := end[int64(len(end))-min(int64(len(end)), footerBytes(end)) : len(end)-8]
	if _, err := checkStruct(footer); err != nil {
		return nil, fmt.Errorf("read the footer: %w", err)
	}
	f := &File{ranges: ranges, columns: map[string]int{}}
	at := &window{offset: size - int64(len(end)), bytes: end}
	if err := recovered(func() (err error) {
		f.file, err = parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.SkipMagicBytes(true), parquet.FileReadMode(parquet.ReadModeSync))
		return err
	}); err != nil {
		return nil, fmt.Errorf("read the footer: %w", err)
	}
	return f, f.check()
}

// footerBytes is what the end of a file says of how long its footer is, with the eight bytes that
// say it.
func footerBytes(end []byte) int64 {
	return int64(binary.LittleEndian.Uint32(end[len(end)-8:])) + 8
}

func (f *File) check() error {
	groups := f.file.RowGroups()
	if len(groups) > 1 || f.file.NumRows() > min(mostRows, freeRows+f.file.Size()/leastRow) || len(groups) == 0 && f.file.NumRows() > 0 {
		return fmt.Errorf("what has %d groups of %d rows %w", len(groups), f.file.NumRows(), errFile)
	}
	f.rows = int(f.file.NumRows())
	for i, path := range f.file.Schema().Columns() {
		if list := len(path) == 3 && path[1] == "list" && path[2] == "element"; len(path) != 1 && !list {
			return fmt.Errorf("what has a column %v %w", path, errFile)
		}
		f.columns[path[0]] = i
	}
	return nil
}

// Rows is how many rows the file has.
func (f *File) Rows() int { return f.rows }

// Has reports whether the file has a column.
func (f *File) Has(column string) bool {
	_, ok := f.columns[column]
	return ok
}

// Addresses reads the addresses of the rows.
func (f *File) Addresses(ctx context.Context) ([]table.Address, error) {
	var list []table.Address
	err := f.pages(ctx, addressName, table.BlockRows, func(page parquet.Page) error {
		data := page.Data()
		bytes, size := data.FixedLenByteArray()
		if size != len(table.Address{}) || len(bytes)%size != 0 {
			return errFile
		}
		list = slices.Grow(list, len(bytes)/size)
		for ; len(bytes) > 0; bytes = bytes[size:] {
			list = append(list, table.Address(bytes))
		}
		return nil
	})
	if err == nil && len(list) != f.rows {
		err = fmt.Errorf("column %s: %d values of %d rows: it %w", addressName, len(list), f.rows, errFile)
	}
	return list, err
}

// Blocks reads a column of figures.
func (f *File) Blocks(ctx context.Context, column string) ([]table.Block, error) {
	return blocksOf(ctx, f, column, table.BlockRows, block)
}

// Sets reads a column of sets.
func (f *File) Sets(ctx context.Context, column string) ([]table.SetBlock, error) {
	return blocksOf(ctx, f, column, mostNames, setBlock)
}

// column reads a column. What the file was made without, as it is older, is not known, and nobody
// belongs to its sets.
func (f *File) column(ctx context.Context, of Column) (c Loaded, err error) {
	switch has := f.Has(of.Name); {
	case has && of.Kind == Names:
		c.Sets, err = f.Sets(ctx, of.Name)
		return c, err
	case has:
		c.Figures, err = f.Blocks(ctx, of.Name)
		return c, err
	}
	for from := 0; from < f.rows; from += table.BlockRows {
		rows := min(table.BlockRows, f.rows-from)
		if of.Kind != Names {
			c.Figures = append(c.Figures, table.Unknown(rows))
			continue
		}
		sets, err := table.NewSetBlock(rows, nil)
		if err != nil {
			return c, err
		}
		c.Sets = append(c.Sets, sets)
	}
	return c, nil
}

// blocksOf makes a block of each page of a column, of so many values at most.
func blocksOf[B any](ctx context.Context, f *File, column string, values int, block func(page parquet.Page, rows int) (B, error)) (blocks []B, err error) {
	left := f.rows
	err = f.pages(ctx, column, values, func(page parquet.Page) error {
		want := min(left, table.BlockRows)
		if left -= want; want == 0 || int(page.NumRows()) != want {
			return errFile
		}
		b, err := block(page, want)
		blocks = append(blocks, b)
		return err
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("column %s lacks %d rows: it %w", column, left, errFile)
	}
	return blocks, err
}

// extent is where a column is, as the file says of it.
func (f *File) extent(column int) (from, size int64) {
	meta := f.file.Metadata().RowGroups[0].Columns[column].MetaData
	if from = meta.DataPageOffset; meta.DictionaryPageOffset > 0 {
		from = min(from, meta.DictionaryPageOffset)
	}
	return from, meta.TotalCompressedSize
}

// pages reads all pages of a column, of so many values each at most, in one range.
func (f *File) pages(ctx context.Context, column string, values int, each func(parquet.Page) error) error {
	i, ok := f.columns[column]
	if !ok {
		return fmt.Errorf("a file without a column %s %w", column, errFile)
	}
	if f.rows == 0 {
		return nil
	}
	if codec := f.file.Metadata().RowGroups[0].Columns[i].MetaData.Codec; codec != format.Zstd { // others of the library make room for ever for what is none of theirs
		return fmt.Errorf("column %s is packed as %s: it %w", column, codec, errFile)
	}
	from, size := f.extent(i)
	if from < 0 || size <= 0 || size > f.file.Size()-from {
		return fmt.Errorf("column %s is %d bytes from %d on: it %w", column, size, from, errFile)
	}
	bytes, err := f.ranges.Range(ctx, from, size)
	if err != nil {
		return fmt.Errorf("read column %s: %w", column, err)
	}
	if err := checkPages(bytes, values); err != nil {
		return fmt.Errorf("column %s: %w", column, err)
	}
	err = recovered(func() error {
		chunk, ok := f.file.RowGroups()[0].ColumnChunks()[i].(*parquet.FileColumnChunk)
		if !ok {
			return errFile
		}
		pages := chunk.PagesFrom(&window{offset: from, bytes: bytes})
		defer pages.Close()
		for {
			page, err := pages.ReadPage()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			err = each(page)
			parquet.Release(page)
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("column %s: %w", column, err)
	}
	return nil
}

// block makes a block of a page.
func block(page parquet.Page, rows int) (table.Block, error) {
	levels := page.DefinitionLevels()
	numbers, err := numbersOf(page)
	if err != nil || len(levels) != rows {
		return table.Block{}, errors.Join(err, errFile)
	}
	values, known := make([]int64, rows), table.NewBits(rows)
	for i, level := range levels {
		if level == 0 {
			continue
		}
		if len(numbers) == 0 {
			return table.Block{}, errFile
		}
		values[i], numbers = numbers[0], numbers[1:]
		known.Set(i)
	}
	return table.NewBlock(values, known)
}

// setBlock makes a block of sets of a page. A name that a row has twice counts once.
func setBlock(page parquet.Page, rows int) (table.SetBlock, error) {
	data, dictionary := page.Data(), page.Dictionary()
	repeated, known := page.RepetitionLevels(), page.DefinitionLevels()
	if dictionary == nil || len(repeated) != len(known) {
		return table.SetBlock{}, errFile
	}
	words := dictionary.Page().Data()
	text, ends := words.ByteArray()
	indexes := data.Int32()
	places := make([]int32, max(0, len(ends)-1)) // of words among those that are used, from 1 on
	var used []int32
	var members [][]uint16
	row := -1
	for i, level := range known {
		if repeated[i] == 0 {
			row++
		}
		if row < 0 || row >= rows {
			return table.SetBlock{}, errFile
		}
		if level == 0 {
			continue
		}
		if len(indexes) == 0 || indexes[0] < 0 || int(indexes[0]) >= len(places) {
			return table.SetBlock{}, errFile
		}
		place := &places[indexes[0]]
		if *place == 0 {
			used, members = append(used, indexes[0]), append(members, nil)
			*place = int32(len(used)) //nolint:gosec // there are no more than words
		}
		of := &members[*place-1]
		indexes = indexes[1:]
		if n := len(*of); n == 0 || int((*of)[n-1]) != row {
			*of = append(*of, uint16(row)) //nolint:gosec // a block has no more rows
		}
	}
	sets := make(map[string][]uint16, len(members))
	for i, word := range used {
		sets[string(text[ends[word]:ends[word+1]])] = members[i]
	}
	return table.NewSetBlock(rows, sets)
}

// numbersOf are the known values of a page, in their order.
func numbersOf(page parquet.Page) ([]int64, error) {
	data := page.Data()
	dictionary := page.Dictionary()
	switch {
	case dictionary != nil:
		words := dictionary.Page().Data()
		of, indexes := words.Int64(), data.Int32()
		numbers := make([]int64, len(indexes))
		for i, at := range indexes {
			if at < 0 || int(at) >= len(of) {
				return nil, errFile
			}
			numbers[i] = of[at]
		}
		return numbers, nil
	case data.Kind() == encoding.Int64:
		return data.Int64(), nil
	}
	return nil, errFile
}

// window is the bytes of a file from an offset on, as far as they are there.
type window struct {
	offset int64
	bytes  []byte
}

// ReadAt reads what is there.
func (w *window) ReadAt(b []byte, offset int64) (int, error) {
	at := offset - w.offset
	if at < 0 || at > int64(len(w.bytes)) {
		return 0, fmt.Errorf("read from %d on what is there from %d on: %w", offset, w.offset, errFile)
	}
	n := copy(b, w.bytes[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// recovered calls f, which hands bytes of a file to the library: it panics over some broken ones.
func recovered(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it %w: %v", errFile, r)
		}
	}()
	return f()
}
