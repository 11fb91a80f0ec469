package othervenues

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
	"quotary/shared/table"
	"quotary/shared/traderfields"
)

// View is who trades on which other venues. It is packed: of a million addresses the body has 50 MB before it
// is compressed.
type View struct {
	Names []string `json:"names"` // of venues, in order
	Lists [][]int  `json:"lists"` // each list of venues that an address has, once: places in Names, ascending
	Files []File   `json:"files"` // by which the lines came

	Addresses []byte `json:"addresses"` // the 20 bytes of each, ascending
	Lines     []byte `json:"lines"`     // of each address the place of its list (4 bytes), that of its file (4) and the line (8)
}

// File is one that was dropped.
type File struct {
	Time int64  `json:"time"` // when it was put, ms
	Name string `json:"name"`
}

// Compare is below 0 where f was put before g.
func (f File) Compare(g File) int {
	return cmp.Or(cmp.Compare(f.Time, g.Time), strings.Compare(f.Name, g.Name))
}

const (
	addressBytes = len(table.Address{})
	lineBytes    = 16
)

// Published is how the view is stored. It changes when a file is loaded.
var Published = store.ViewType[View]{Name: Name, Period: time.Minute, Write: func(v View) []byte { return dataset.JSON(v) }, Read: decode}

var errView = errors.New("the addresses, lines, lists and names do not belong together")

func decode(body []byte) (v View, err error) {
	if err = json.Unmarshal(body, &v); err == nil && !v.sound() {
		err = errView
	}
	return v, err
}

// sound reports whether all that the view points to is there, and everything is in order and once.
func (v *View) sound() bool {
	if len(v.Addresses)%addressBytes != 0 || len(v.Lines) != v.Len()*lineBytes {
		return false
	}
	for _, list := range v.Lists {
		if !ascend(list, cmp.Compare) || len(list) > 0 && (list[0] < 0 || list[len(list)-1] >= len(v.Names)) {
			return false
		}
	}
	for i := range v.Len() {
		list, file, _ := v.line(i)
		if list >= len(v.Lists) || file >= len(v.Files) || i > 0 && bytes.Compare(v.address(i-1), v.address(i)) >= 0 {
			return false
		}
	}
	return ascend(v.Names, strings.Compare) && !slices.Contains(v.Names, "") && ascend(v.Lists, slices.Compare[[]int]) && ascend(v.Files, File.Compare)
}

// ascend reports whether each of a list is greater than the one before.
func ascend[T any](list []T, compare func(a, b T) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

// Len is how many addresses there are.
func (v *View) Len() int { return len(v.Addresses) / addressBytes }

func (v *View) address(i int) []byte { return v.Addresses[i*addressBytes : (i+1)*addressBytes] }

// line is what is said of address i: the places of its list and file, and the number of the line.
func (v *View) line(i int) (list, file int, number int64) {
	b := v.Lines[i*lineBytes:]
	return int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:])), int64(binary.LittleEndian.Uint64(b[8:])) //nolint:gosec // as it was written
}

// add adds an address, behind those that are less.
func (v *View) add(a table.Address, list, file int, number int64) {
	v.Addresses = append(v.Addresses, a[:]...)
	v.Lines = binary.LittleEndian.AppendUint32(v.Lines, uint32(list))   //nolint:gosec // there are not so many
	v.Lines = binary.LittleEndian.AppendUint32(v.Lines, uint32(file))   //nolint:gosec // likewise
	v.Lines = binary.LittleEndian.AppendUint64(v.Lines, uint64(number)) //nolint:gosec // it is read back as it was
}

// names are those of a list of the view.
func (v *View) names(list []int) []string {
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = v.Names[name]
	}
	return names
}

// Index tells of addresses: 24 MB of a million. The zero value knows none.
type Index struct {
	addresses []byte
	of        []uint32 // of each address its list
	lists     []traderfields.OtherVenues
}

// Index is what the view says of addresses.
func (v *View) Index() Index {
	x := Index{addresses: v.Addresses, of: make([]uint32, v.Len())}
	for i := range x.of {
		x.of[i] = binary.LittleEndian.Uint32(v.Lines[i*lineBytes:])
	}
	for _, list := range v.Lists {
		x.lists = append(x.lists, traderfields.OtherVenues{Names: v.names(list)})
	}
	return x
}

// Of is on which other venues an address trades; nil where that is not known.
func (x Index) Of(a table.Address) *traderfields.OtherVenues {
	i, found := sort.Find(len(x.of), func(i int) int {
		return bytes.Compare(a[:], x.addresses[i*addressBytes:(i+1)*addressBytes])
	})
	if !found {
		return nil
	}
	return &x.lists[x.of[i]]
}

// OpenIndex is the view as a reader keeps it in memory.
func OpenIndex(views *store.Views, clock func() time.Time) *store.View[Index] {
	return store.NewView(views, Name, Published.Period, clock, func(body []byte) (Index, error) {
		v, err := Published.Decode(body)
		if err != nil {
			return Index{}, err
		}
		return v.Index(), nil
	})
}
