package tablefile

import (
	"fmt"

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
		column = column[size:]
	}
	return nil
}
