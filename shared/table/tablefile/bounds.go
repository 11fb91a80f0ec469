package tablefile

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"quotary/shared/table"
)

// What a file says of itself is believed within these bounds alone: the library makes room for as much
// as is said, before it looks whether that much is there, and three bytes of a broken file can say two
// gigabytes.
const (
	mostItems  = 1 << 16  // of all lists of a footer together: one of 1,000 columns has some 20,000
	mostNested = 16       // structs and lists in one another
	mostPage   = 64 << 20 // bytes of a page before it is compressed
	mostNames  = 1 << 24  // of all rows of a block of sets
	leastWord  = 4        // bytes of a word of a dictionary: how long a text is, or a number of eight
)

// checkStruct returns how many bytes a struct in the encoding of Parquet's footers and page headers
// takes at the beginning of b. It fails where it is not there as a whole, or has more than any.
func checkStruct(b []byte) (bytes int, err error) {
	w := walk{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(b), left: mostItems}
	err = w.fields(0)
	return w.BytesRead(), err
}

// walk reads values and keeps none of them.
type walk struct {
	thrift.BytesReader
	left int // items of lists that may come
}

func (w *walk) fields(depth int) error {
	if depth > mostNested {
		return fmt.Errorf("what is nested deeper than %d %w", mostNested, errFile)
	}
	for {
		f, err := w.ReadField()
		if err != nil || f.Type == thrift.STOP {
			return err
		}
		if f.Type == thrift.TRUE || f.Type == thrift.FALSE {
			continue // the type says it
		}
		if err := w.value(f.Type, depth+1); err != nil {
			return err
		}
	}
}

func (w *walk) value(of thrift.Type, depth int) (err error) {
	switch of {
	case thrift.TRUE, thrift.FALSE:
		_, err = w.ReadBool()
	case thrift.I8:
		_, err = w.ReadInt8()
	case thrift.I16:
		_, err = w.ReadInt16()
	case thrift.I32:
		_, err = w.ReadInt32()
	case thrift.I64:
		_, err = w.ReadInt64()
	case thrift.DOUBLE:
		_, err = w.ReadFloat64()
	case thrift.BINARY:
		_, err = w.ReadBytes()
	case thrift.STRUCT:
		err = w.fields(depth)
	case thrift.LIST:
		err = w.list(depth)
	default:
		err = fmt.Errorf("what has a value of type %d %w", of, errFile)
	}
	return err
}

func (w *walk) list(depth int) error {
	l, err := w.ReadList()
	if err != nil {
		return err
	}
	if w.left -= int(l.Size); w.left < 0 || depth > mostNested {
		return fmt.Errorf("what has more than %d items %w", mostItems, errFile)
	}
	for range l.Size {
		if err := w.value(l.Type, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkPages returns an error of a column whose pages have more than any, or are not there.
func checkPages(column []byte, values int) error {
	for len(column) > 0 {
		n, err := checkStruct(column)
		if err != nil {
			return err
		}
		var page format.PageHeader
		if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(column[:n])).Decode(&page); err != nil {
			return err
		}
		column = column[n:]
		size := int(page.CompressedPageSize)
		if size < 0 || size > len(column) || page.UncompressedPageSize < 0 || page.UncompressedPageSize > mostPage {
			return fmt.Errorf("what has a page of %d bytes, %d compressed, %w", page.UncompressedPageSize, size, errFile)
		}
		first, second, words := &page.DataPageHeader.V, &page.DataPageHeaderV2.V, &page.DictionaryPageHeader.V
		if n := max(first.NumValues, second.NumValues); int(n) > values || second.NumRows > table.BlockRows || words.NumValues > page.UncompressedPageSize/leastWord {
			return fmt.Errorf("what has a page of %d values %w", max(n, words.NumValues), errFile)
		}
		packed := column[:size]
		if page.DataPageHeaderV2.Valid {
			levels := int(second.DefinitionLevelsByteLength) + int(second.RepetitionLevelsByteLength) // which are not packed
			if levels < 0 || levels > size {
				return fmt.Errorf("what has %d bytes of levels %w", levels, errFile)
			}
			packed = packed[levels:]
		}
		if !second.IsCompressed.Valid || second.IsCompressed.V {
			if err := checkPacked(packed, page.UncompressedPageSize); err != nil {
				return err
			}
		}
		column = column[size:]
	}
	return nil
}

// checkPacked returns an error of what is not one frame of Zstandard that says how much it has, no more
// than most, or has one block, of 128 KB at most: the library inflates what there is, and 16 MB can be
// 500 GB.
func checkPacked(b []byte, most int32) error {
	if len(b) == 0 {
		return nil
	}
	var frame zstd.Header
	if err := frame.Decode(b); err != nil {
		return err
	}
	end, blocks := frame.HeaderSize, 0
	for last := false; !last; blocks++ {
		if end+3 > len(b) {
			return fmt.Errorf("a frame without an end %w", errFile)
		}
		block := int(b[end]) | int(b[end+1])<<8 | int(b[end+2])<<16
		last, end = block&1 == 1, end+3
		if repeated := block>>1&3 == 1; repeated {
			end++
		} else {
			end += block >> 3
		}
	}
	if frame.HasCheckSum {
		end += 4
	}
	if frame.HasFCS && frame.FrameContentSize > uint64(most) || !frame.HasFCS && blocks > 1 { //nolint:gosec // it is not negative
		return fmt.Errorf("what inflates to more than %d bytes %w", most, errFile)
	}
	if end != len(b) || frame.Skippable {
		return fmt.Errorf("a frame of %d bytes of %d %w", end, len(b), errFile)
	}
	return nil
}
