package othervenues

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"unique"

	"quotary/shared/data/drop"
	"quotary/shared/market"
	"quotary/shared/table"
)

// Book is what lines have said of addresses, of which the view is made. It may grow up to what the view
// holds; lists and files are in it once, for as long as an address has them.
type Book struct {
	lines map[table.Address]line
	lists map[listKey]*list
	names map[string]int // of venues, with the number of lists that each is in
	files map[File]*file
}

// line is what was said of an address last.
type line struct {
	list   *list
	file   *file
	number int64
}

type list struct {
	names []string
	used  int // by how many lines
}

type file struct {
	File
	used int // likewise
}

// NewBook is one in which nothing stands.
func NewBook() *Book {
	return &Book{map[table.Address]line{}, map[listKey]*list{}, map[string]int{}, map[File]*file{}}
}

// BookOf is one in which stands what a view holds.
func BookOf(v *View) *Book {
	b := NewBook()
	lists := make([]*list, len(v.Lists))
	for i, of := range v.Lists {
		lists[i] = b.list(v.names(of))
	}
	files := make([]*file, len(v.Files))
	for i, of := range v.Files {
		files[i] = b.file(of)
	}
	for i := range v.Len() {
		list, file, number := v.line(i)
		b.put(table.Address(v.address(i)), line{lists[list], files[file], number})
	}
	return b
}

// Take takes in an entry, unless a later one of its address is known, and reports whether the view is another
// one now. Where there is no room for it fits is false, and what was known stays.
func (b *Book) Take(d *Dropped) (changed, fits bool) {
	a, ok := market.ParseAccount(d.Address)
	if !ok {
		return false, true // it was checked before
	}
	before, known := b.lines[a]
	if known && before.place().Compare(d.Place) >= 0 {
		return false, true
	}
	if !known && len(b.lines) >= Most || b.lists[key(d.Venues)] == nil && !b.hasRoom(d.Venues) {
		return false, false
	}
	b.put(a, line{b.list(d.Venues), b.file(File{d.Place.Time, d.Place.File}), d.Place.Line})
	b.drop(before)
	return true, true
}

func (l line) place() drop.Place {
	return drop.Place{Time: l.file.Time, File: l.file.Name, Line: l.number}
}

// hasRoom reports whether there is room for a new list, and for those of its names that are new.
func (b *Book) hasRoom(names []string) bool {
	if len(b.lists) >= MostLists {
		return false
	}
	n := len(b.names)
	for _, name := range names {
		if b.names[name] == 0 {
			n++
		}
	}
	return n <= max(MostNames, len(b.names))
}

func (b *Book) put(a table.Address, l line) {
	b.lines[a] = l
	if l.list.used++; l.list.used == 1 {
		b.lists[key(l.list.names)] = l.list
		for _, name := range l.list.names {
			b.names[name]++
		}
	}
	l.file.used++
	b.files[l.file.File] = l.file
}

// drop forgets what no address has any more of a line that was replaced.
func (b *Book) drop(l line) {
	if l.list == nil {
		return
	}
	if l.list.used--; l.list.used == 0 {
		delete(b.lists, key(l.list.names))
		for _, name := range l.list.names {
			if b.names[name]--; b.names[name] == 0 {
				delete(b.names, name)
			}
		}
	}
	if l.file.used--; l.file.used == 0 {
		delete(b.files, l.file.File)
	}
}

// list is the one of some names, in order.
func (b *Book) list(names []string) *list {
	if l := b.lists[key(names)]; l != nil {
		return l
	}
	of := &list{names: make([]string, len(names))}
	for i, name := range names {
		of.names[i] = unique.Make(name).Value()
	}
	return of
}

func (b *Book) file(of File) *file {
	if f := b.files[of]; f != nil {
		return f
	}
	return &file{File: of}
}

// listKey tells lists apart in little room.
type listKey [sha256.Size]byte

// key is that of a list of names, each of which is on one line.
func key(names []string) listKey { return sha256.Sum256([]byte(strings.Join(names, "\n"))) }

// View is what stands in the book. Of the same lines it is the same.
func (b *Book) View() View {
	v := View{Names: slices.Sorted(maps.Keys(b.names)), Addresses: make([]byte, 0, len(b.lines)*addressBytes), Lines: make([]byte, 0, len(b.lines)*lineBytes)}
	names, lists, files := map[string]int{}, map[*list]int{}, map[*file]int{}
	for i, name := range v.Names {
		names[name] = i
	}
	inOrder := func(l, m *list) int { return slices.Compare(l.names, m.names) }
	for i, list := range slices.SortedFunc(maps.Values(b.lists), inOrder) {
		lists[list] = i
		places := make([]int, len(list.names))
		for n, name := range list.names {
			places[n] = names[name]
		}
		v.Lists = append(v.Lists, places)
	}
	v.Files = slices.SortedFunc(maps.Keys(b.files), File.Compare)
	for i, f := range v.Files {
		files[b.files[f]] = i
	}
	for _, a := range slices.SortedFunc(maps.Keys(b.lines), market.CompareAccounts) {
		l := b.lines[a]
		v.add(a, lists[l.list], files[l.file], l.number)
	}
	return v
}
