package othervenues

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/table"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// entries are drawn of few addresses, names and files.
func entries() *rapid.Generator[Dropped] {
	return rapid.Custom(func(t *rapid.T) Dropped {
		venues := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"Alpha", "Beta", "Ünïted", "a b"}), 0, 3, rapid.ID[string]).Draw(t, "venues")
		slices.Sort(venues)
		return Dropped{Entry{fmt.Sprintf("0x%040x", rapid.IntRange(1, 5).Draw(t, "address")), venues},
			drop.Place{Time: rapid.Int64Range(1, 3).Draw(t, "put"), File: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "file"), Line: rapid.Int64Range(1, 9).Draw(t, "line")}}
	})
}

func bookOf(list []Dropped) *Book {
	b := NewBook()
	for i := range list {
		b.Take(&list[i])
	}
	return b
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View { return bookOf(rapid.SliceOfN(entries(), 0, 20).Draw(t, "entries")).View() }),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use: func(v View) {
			v.Index().Of(table.Address{19: 1})
			BookOf(&v).View()
		},
	}.Test(t)
}

func TestStoredEntries(t *testing.T) {
	datasettest.Codec[Dropped]{
		Values: entries(),
		Encode: func(d Dropped) []byte { return row(&d).Body },
		Decode: func(body []byte) (Dropped, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
}

// Of each address the line of the last place holds, as a map has it, whatever comes when; and what a book
// is made of again says the same.
func TestTheLastLineOfAnAddressHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list, last := rapid.SliceOfN(entries(), 0, 30).Draw(t, "entries"), map[string]Dropped{}
		b := NewBook()
		for i := range list {
			d := &list[i]
			before, known := last[d.Address]
			newer := !known || before.Place.Compare(d.Place) < 0
			if changed, fits := b.Take(d); changed != newer || !fits {
				t.Fatalf("%v has changed: %t, has room: %t", d, changed, fits)
			}
			if newer {
				last[d.Address] = *d
			}
			if rapid.IntRange(0, 9).Draw(t, "made again") == 0 {
				v := b.View()
				b = BookOf(&v)
			}
		}
		v := b.View()
		x := v.Index()
		for n := range 7 {
			a := table.Address{19: byte(n)}
			of := x.Of(a)
			d, known := last[market.AddressOf(a)]
			if known != (of != nil) || known && !slices.Equal(of.Names, d.Venues) {
				t.Fatalf("%d trades on %v, want %v (known: %t)", n, of, d.Venues, known)
			}
		}
		used := map[string]bool{}
		for _, d := range last {
			for _, name := range d.Venues {
				used[name] = true
			}
		}
		if len(v.Names) != len(used) || len(b.names) != len(used) {
			t.Fatalf("%d names are kept, %v are used", len(v.Names), used)
		}
	})
}

func TestWhatThereIsNoRoomForIsLeftOut(t *testing.T) {
	t.Parallel()
	b := NewBook()
	take := func(address, line int64, venues ...string) (changed, fits bool) {
		return b.Take(&Dropped{Entry{fmt.Sprintf("0x%040x", address), venues}, drop.Place{Time: 1, File: "a", Line: line}})
	}
	for n := range int64(MostNames) {
		if changed, fits := take(n, 1, fmt.Sprint("venue ", n)); !changed || !fits {
			t.Fatalf("there is no room for name %d", n)
		}
	}
	for _, c := range []struct {
		what          string
		address       int64
		venues        []string
		changed, fits bool
	}{
		{"a name too many of a new address", 5000, []string{"venue 1", "new"}, false, false},
		{"and of one that is known", 7, []string{"new", "newer"}, false, false},
		{"names that are known", 5000, []string{"venue 1", "venue 9"}, true, true},
		{"none", 7, nil, true, true},
		{"a name in the place of one that nobody has any more", 5001, []string{"new"}, true, true},
	} {
		if changed, fits := take(c.address, 2, c.venues...); changed != c.changed || fits != c.fits {
			t.Errorf("%s: changed %t, fits %t", c.what, changed, fits)
		}
	}
	v := b.View()
	x := v.Index()
	if n := len(v.Names); n != MostNames || x.Of(table.Address{18: 5000 >> 8, 19: 5000 & 255}) == nil || len(x.Of(table.Address{19: 7}).Names) != 0 {
		t.Errorf("there are %d names", n)
	}
}

func TestNoMoreListsAreKeptThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	b := NewBook()
	d := Dropped{Place: drop.Place{Time: 1, File: "a"}}
	take := func(n int, venues ...string) (changed, fits bool) {
		d.Address, d.Place.Line, d.Venues = fmt.Sprintf("0x%040x", n), d.Place.Line+1, venues
		return b.Take(&d)
	}
	list := func(n int) []string { return []string{fmt.Sprintf("a %03d", n/300), fmt.Sprintf("b %03d", n%300)} }
	for n := range MostLists + 5 {
		if changed, fits := take(n, list(n)...); changed != (n < MostLists) || fits != changed {
			t.Fatalf("list %d: changed %t, fits %t", n, changed, fits)
		}
	}
	if changed, _ := take(MostLists, list(7)...); !changed {
		t.Error("a list that is known has no room")
	}
	if changed, _ := take(8, list(7)...); !changed {
		t.Error("it has none in the place of another one")
	}
	if changed, _ := take(MostLists+1, list(MostLists)...); !changed {
		t.Error("there is no room in the place of a list that nobody has any more")
	}
	if v := b.View(); len(v.Lists) != MostLists || v.Len() != MostLists+2 {
		t.Errorf("%d addresses have %d lists", v.Len(), len(v.Lists))
	}
}

// A view that is full is within what a view may have, and so is the index in memory.
func TestAFullViewCanBeStored(t *testing.T) {
	t.Parallel()
	b := NewBook()
	d := Dropped{Place: drop.Place{Time: markettest.Base, File: "all.ndjson"}}
	for n := range int64(Most + 3) {
		d.Address, d.Place.Line = fmt.Sprintf("0x%040x", n), n+1
		d.Venues = []string{fmt.Sprintf("venue %03d", n%100), fmt.Sprintf("venue %03d", 100+n%7)}
		if changed, fits := b.Take(&d); changed != (n < Most) || fits != changed {
			t.Fatalf("address %d: changed %t, fits %t", n, changed, fits)
		}
	}
	v := b.View()
	body := Published.Encode(v)
	if len(body) > 60<<20 || v.Len() != Most {
		t.Errorf("%d addresses have %d bytes", v.Len(), len(body))
	}
	again := must.Get(Published.Decode(body))(t)
	x := again.Index()
	if of := x.Of(table.Address{17: 1, 18: 2, 19: 3}); of == nil {
		t.Error("one is not known")
	} else {
		n := 1<<16 + 2<<8 + 3
		check.Equal(t, []string{fmt.Sprintf("venue %03d", n%100), fmt.Sprintf("venue %03d", 100+n%7)}, of.Names)
	}
}

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, lines, Name, "othervenues.schema.json")
}

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	address := "0x00000000000000000000000000000000000000Aa"
	names := make([]string, 21)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprint("venue ", i))
	}
	for line, want := range map[string]string{
		`{"address":"` + address + `","venues":["beta","Alpha","beta"]}`:                           "0x00000000000000000000000000000000000000aa [Alpha beta]",
		`{"address":"` + address + `","venues":[]}`:                                                "0x00000000000000000000000000000000000000aa []",
		`{"address":"` + address + `","venues":["` + strings.Repeat("é", 64) + `"]}`:               "0x00000000000000000000000000000000000000aa [" + strings.Repeat("é", 64) + "]",
		`{"address":"` + address + `"}`:                                                            "venues is missing: it must be a list of at most 20 texts of 1 to 64 characters",
		`{"venues":[]}`:                                                                            "address is missing: it must be 0x and 40 hex digits",
		`{"address":"0x12","venues":[]}`:                                                           "address must be 0x and 40 hex digits",
		`{"address":"0X00000000000000000000000000000000000000aa","venues":[]}`:                     "address must be 0x and 40 hex digits",
		`{"address":"` + address + `","venues":[` + strings.Join(names, ",") + `]}`:                "venues must be a list of at most 20 texts",
		`{"address":"` + address + `","venues":["` + strings.Repeat("x", 65) + `"]}`:               "venues must be a list of at most 20 texts",
		`{"address":"` + address + `","venues":[],"country":"US"}`:                                 "no member",
		`{"address":"` + address + `","venues":[` + strings.Join(names[:20], ",") + `,"venue 1"]}`: "venue 19 venue 2 ",
	} {
		d, err := Parse([]byte(line), drop.Place{})
		got := fmt.Sprint(d.Address, " ", d.Venues)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
