// Package traderwindows answers questions about what all traders did in any window of the past, from the
// history that the ingester publishes (package traderhistory), and about what they hold now, from the
// trader table (package traders).
//
// A window is made a table: of each trader of the trader table a row, with those columns that a question
// names, so that it is asked as that table is ([table.Query]). A column is made of the sums of the
// fewest files that have the window's hours; the last ones are kept.
package traderwindows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"quotary/shared/data/traderhistory"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// Window is from the beginning of an hour on and before that of another, ms.
type Window struct{ From, To int64 }

// Windows answers questions. It may be used by several at once.
type Windows struct {
	table  *tablefile.Reader
	newest func(context.Context) (traderhistory.Manifest, error)
	files  *tablefile.Files
	worth  *tablefile.Files

	made *tablefile.Cache // columns of the last windows

	mu           sync.Mutex
	places       map[string][]int32
	placesOfRows int   // how many there are in all
	placed       int64 // the version of the trader table to which places belong
}

const (
	// keptPlaces bounds the rows of files of which it is known which traders they are.
	keptPlaces = 16 << 20
	// mostRead bounds what a question reads of files: what a function receives in some ten seconds.
	mostRead = 1 << 30
)

// ErrTooMuch says that a question would have to read more of files than one may.
var ErrTooMuch = errors.New("more would have to be read than one request may read")

// New returns what answers from a trader table, which has the columns of [traders.Columns], and the newest
// history. What is read of files and made of it is kept, up to so many bytes.
func New(of *tablefile.Reader, newest func(context.Context) (traderhistory.Manifest, error), objects tablefile.Objects, bytes int) *Windows {
	return &Windows{
		table: of, newest: newest, places: map[string][]int32{},
		files: tablefile.NewFiles(traderhistory.Columns(), objects, bytes/2), worth: tablefile.NewFiles(traderhistory.WorthColumns(), objects, bytes/8),
		made: tablefile.NewCache(bytes * 3 / 8),
	}
}

// Column is the place of a field in questions, and Coins that of the perpetuals that were traded.
func Column(f *traderfields.Field) int {
	for i := range traderfields.Fields {
		if &traderfields.Fields[i] == f {
			return i
		}
	}
	return -1
}

// Coins is the place of the column of sets of what was traded in the window.
func Coins() int { return len(traderfields.Fields) }

// Answer is what a question finds.
type Answer struct {
	tablefile.Answer
	Since int64 // from when on there is a history, ms
}

// Ask answers a question about a window, whose columns are those of [Column], with some columns of its
// rows. What traders hold is that of now.
func (w *Windows) Ask(ctx context.Context, of Window, q *table.Query, show []int) (a Answer, err error) {
	m, err := w.newest(ctx)
	if err != nil {
		return a, fmt.Errorf("find the newest history: %w", err)
	}
	named := traderhistory.Files(m.Cover(of.From, of.To))
	if reads(named, q, show) > mostRead {
		return a, ErrTooMuch
	}
	held, parts, err := w.table.Parts(ctx, heldColumns(append(q.Columns(), show...)))
	if err != nil {
		return a, fmt.Errorf("read the table of traders: %w", err)
	}
	c := w.columns(&m, held.Version, of, named, parts)
	asked, err := c.parts(ctx, parts, q.Columns(), q.SetColumns())
	if err != nil {
		return a, err
	}
	found, err := q.Run(ctx, asked)
	if err != nil {
		return a, fmt.Errorf("ask about a window: %w", err)
	}
	a = Answer{tablefile.Answer{Version: min(held.Version, m.Version), Until: held.Until, Total: found.Total}, m.Since()}
	if a.Until == 0 || m.Until > 0 && m.Until < a.Until {
		a.Until = m.Until
	}
	a.Rows, err = c.rows(ctx, parts, found.Rows, show)
	return a, err
}

// heldColumns are the columns of the trader table that fields are in which are of now.
func heldColumns(fields []int) (held []int) {
	for _, f := range fields {
		if column, ok := heldColumn(f); ok {
			held = append(held, column)
		}
	}
	return held
}

// heldColumn is the column of the trader table of a field that is of now.
func heldColumn(field int) (column int, ok bool) {
	if field >= len(traderfields.Fields) || traderfields.Fields[field].Adds != traderfields.Latest {
		return 0, false
	}
	return traders.Column(traderfields.Fields[field].Name)
}

// reads is about how many bytes of files a question reads: for what it asks, and for what it shows.
func reads(files []tablefile.Named, q *table.Query, show []int) (bytes int64) {
	columns := len(q.SetColumns()) + len(needs(show)) + len(needs(q.Columns()))
	for _, of := range files {
		bytes += of.Bytes * int64(columns) / int64(len(traderhistory.Columns()))
	}
	return bytes
}

// needs are the columns of files of which fields are made, each once.
func needs(fields []int) (columns []int) {
	for _, f := range fields {
		if _, held := heldColumn(f); !held {
			columns = append(columns, traderhistory.Needs(&traderfields.Fields[f])...)
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// columns are what columns of a window are made of.
type columns struct {
	*Windows
	Window
	made    int64                  // version of the trader table
	name    string                 // of all columns of the window at these versions
	named   []tablefile.Named      // the files
	ends    [2]*traderhistory.Unit // what accounts were worth at the ends; nil where that is not known
	traders int
}

// columns are those of a window at the versions of history and table, of files.
func (w *Windows) columns(m *traderhistory.Manifest, made int64, of Window, files []tablefile.Named, parts []*table.Part) *columns {
	c := &columns{Windows: w, Window: of, made: made, name: fmt.Sprint(of, m.Version, made), named: files}
	for i, ms := range [...]int64{of.From, of.To} {
		c.ends[i] = m.WorthAt(ms)
	}
	for _, p := range parts {
		c.traders += len(p.Addresses)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.placed < made {
		w.placed, w.placesOfRows, w.places = made, 0, map[string][]int32{}
	}
	return c
}

// parts are the rows of the trader table with columns of the window.
func (c *columns) parts(ctx context.Context, parts []*table.Part, figures, sets []int) ([]*table.Part, error) {
	list := make([]*table.Part, len(parts))
	for i, p := range parts {
		list[i] = p.With(map[int][]table.Block{}, map[int][]table.SetBlock{})
	}
	var sums *sumsOnce
	for n, f := range figures {
		if held, ok := heldColumn(f); ok {
			for i, p := range parts {
				list[i].Columns[f] = p.Columns[held]
			}
			continue
		}
		if !sums.has(f) {
			sums = together(figures[n:])
		}
		made, err := c.column(ctx, f, parts, sums)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].Columns[f], made.Figures = made.Figures[:list[i].Blocks()], made.Figures[list[i].Blocks():]
		}
	}
	for _, s := range sets {
		made, err := c.column(ctx, s, parts, nil)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].Sets[s], made.Sets = made.Sets[:list[i].Blocks()], made.Sets[list[i].Blocks():]
		}
	}
	return list, nil
}

// sumsOnce are the sums of some columns, made where one of their fields is.
type sumsOnce struct {
	columns []int
	once    sync.Once
	sums    *traderhistory.Sums
	err     error
}

// sumsTogether is how many columns are summed up at once, of all traders.
const sumsTogether = 16

// together are the sums that the first of some fields needs, and those behind it, as far as they are few:
// files are read once for them.
func together(fields []int) *sumsOnce {
	n := 1
	for n < len(fields) && len(needs(fields[:n+1])) <= sumsTogether {
		n++
	}
	return &sumsOnce{columns: needs(fields[:n])}
}

// has reports whether a field can be made of the sums.
func (s *sumsOnce) has(field int) bool {
	return s != nil && !slices.ContainsFunc(needs([]int{field}), func(column int) bool { return !slices.Contains(s.columns, column) })
}

// of makes the sums of a window.
func (s *sumsOnce) of(ctx context.Context, c *columns, parts []*table.Part) (*traderhistory.Sums, error) {
	s.once.Do(func() {
		s.sums = traderhistory.NewSums(c.From, c.traders, s.columns)
		s.err = c.files.Each(ctx, c.named, s.columns, func(file int, p *table.Part, columns []int) error {
			s.sums.AddAll(p, columns, c.placesOf(c.named[file].Key, p, parts))
			return nil
		})
	})
	return s.sums, s.err
}

// column is a column of the window, made where it is not kept, block by block of all parts. sums are those
// that a figure of what traders did is made of.
func (c *columns) column(ctx context.Context, field int, parts []*table.Part, sums *sumsOnce) (tablefile.Loaded, error) {
	made, err := c.Windows.made.Get(ctx, c.name, field, func(ctx context.Context) (made tablefile.Loaded, err error) {
		switch {
		case field == Coins():
			made.Sets, err = c.coins(ctx, parts)
		case isWorth(&traderfields.Fields[field]):
			made.Figures, err = c.worthFigures(ctx, &traderfields.Fields[field], parts)
		default:
			made.Figures, err = c.figures(ctx, &traderfields.Fields[field], parts, sums)
		}
		return made, err
	})
	if err != nil {
		return made, fmt.Errorf("make a column of a window: %w", err)
	}
	return made, nil
}

// figures makes a column of what traders did.
func (c *columns) figures(ctx context.Context, f *traderfields.Field, parts []*table.Part, of *sumsOnce) ([]table.Block, error) {
	sums, err := of.of(ctx, c, parts)
	if err != nil {
		return nil, err
	}
	need := traderhistory.Needs(f)
	did := new(market.Window)
	trader := traderhistory.Trader(did)
	none, noneKnown := f.Figure(&trader, traderhistory.Period)
	return blocksOf(parts, func(at int) (int64, bool) {
		if !sums.Did(at) {
			return none, noneKnown
		}
		if !sums.Known(at, need) {
			return 0, false
		}
		sums.Facts(at, need, &did.Did)
		return f.Figure(&trader, traderhistory.Period)
	})
}

// blocksOf makes a column of a figure of every trader, who are counted through all parts.
func blocksOf(parts []*table.Part, figure func(trader int) (int64, bool)) (all []table.Block, err error) {
	trader := 0
	for _, p := range parts {
		for block := range p.Blocks() {
			n := p.RowsOf(block)
			values, known := make([]int64, n), table.NewBits(n)
			for row := range n {
				if v, ok := figure(trader); ok {
					values[row] = v
					known.Set(row)
				}
				trader++
			}
			b, err := table.NewBlock(values, known)
			if err != nil {
				return nil, err
			}
			all = append(all, b)
		}
	}
	return all, nil
}

// placesOf are the traders of the rows of a file; -1 for one that is not in the trader table.
func (c *columns) placesOf(key string, file *table.Part, parts []*table.Part) []int32 {
	c.mu.Lock()
	places, ok := c.places[key]
	ok = ok && c.placed == c.made
	c.mu.Unlock()
	if ok {
		return places
	}
	places = make([]int32, len(file.Addresses))
	for row, a := range file.Addresses {
		places[row] = placeOf(a, parts)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.placed == c.made {
		if c.placesOfRows += len(places); c.placesOfRows > keptPlaces {
			c.placesOfRows = len(places)
			clear(c.places)
		}
		c.places[key] = places
	}
	return places
}

// placeOf is a trader among all of all parts: its row in the last part that has it.
func placeOf(a table.Address, parts []*table.Part) int32 {
	before := 0
	for _, p := range parts {
		before += len(p.Addresses)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		before -= len(parts[i].Addresses)
		if row, ok := parts[i].Find(a); ok {
			return int32(before + row) //nolint:gosec // a table has fewer rows
		}
	}
	return -1
}
