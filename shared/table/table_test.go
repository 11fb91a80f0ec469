package table_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/table"
	"quotary/shared/testing/must"
)

// plain is a row as a test keeps it.
type plain struct {
	address table.Address
	values  []*int64
	sets    map[string]bool
	part    int
	hidden  bool
}

const (
	columns  = 4       // of any kind
	coins    = columns // the column of sets
	setNames = 5
)

// world makes parts of random rows, and the same as plain rows.
func world(t *rapid.T) ([]*table.Part, []plain) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var parts []*table.Part
	var rows []plain
	for n := range rapid.IntRange(0, 3).Draw(t, "parts") {
		var own []plain
		for i := range rapid.SampledFrom([]int{0, 1, 63, 64, 500, 500, 500, 3000, 3000, table.BlockRows + 70}).Draw(t, "rows") {
			r := plain{part: n, sets: map[string]bool{}}
			binary.BigEndian.PutUint32(r.address[rng.IntN(2)*16:], rng.Uint32())
			if len(rows) > 0 && rng.IntN(4) == 0 {
				r.address = rows[rng.IntN(len(rows))].address
			}
			r.address[19] = byte(i)
			r.address[18] = byte(i >> 8)
			own = append(own, r)
		}
		slices.SortFunc(own, func(x, y plain) int { return bytes.Compare(x.address[:], y.address[:]) })
		own = slices.CompactFunc(own, func(x, y plain) bool { return x.address == y.address })
		rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		parts = append(parts, part(t, rng, own))
		rows = hide(rows, own)
		for _, earlier := range parts[:n] {
			parts[n].HideIn(earlier)
		}
	}
	return parts, rows
}

func hide(rows, own []plain) []plain {
	anew := map[table.Address]bool{}
	for _, r := range own {
		anew[r.address] = true
	}
	for i := range rows {
		rows[i].hidden = rows[i].hidden || anew[rows[i].address]
	}
	return append(rows, own...)
}

// drawValues fills a column in one of the ways in which columns are: dense and narrow, dense and
// wide, mostly null, mostly zero, all the same, all null.
func drawValues(t *rapid.T, rng *rand.Rand, n int) []*int64 {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	values := make([]*int64, n)
	base := []int64{0, -7, 1 << 40, -table.MostValue}[rng.IntN(4)]
	for i := range values {
		v := base
		switch kind {
		case 0:
			v += rng.Int64N(200)
		case 1:
			v += rng.Int64N(60_000)
		case 2:
			v += rng.Int64N(1 << 31)
		case 3:
			v += rng.Int64N(1 << 61)
		case 4:
			if rng.IntN(20) > 0 {
				continue
			}
			v += rng.Int64N(9)
		case 5:
			if v = 0; rng.IntN(20) == 0 {
				v = rng.Int64N(1000) - 500
			}
		case 6:
		case 7:
			continue
		}
		if kind < 4 && rng.IntN(5) == 0 {
			continue
		}
		values[i] = &v
	}
	return values
}

func part(t *rapid.T, rng *rand.Rand, rows []plain) *table.Part {
	addresses := make([]table.Address, len(rows))
	members := map[string][][]uint16{}
	for i := range rows {
		addresses[i] = rows[i].address
		for s := range setNames {
			if name := strconv.Itoa(s); rng.IntN(1<<(s+1)) == 0 {
				rows[i].sets[name] = true
				for len(members[name]) <= i/table.BlockRows {
					members[name] = append(members[name], nil)
				}
				list := &members[name][i/table.BlockRows]
				*list = append(*list, uint16(i%table.BlockRows))
			}
		}
	}
	p := table.NewPart(addresses)
	for b := range p.Blocks() {
		of := map[string][]uint16{}
		for name, blocks := range members {
			if b < len(blocks) {
				of[name] = blocks[b]
			}
		}
		sets, err := table.NewSetBlock(min(table.BlockRows, len(rows)-b*table.BlockRows), of)
		if err != nil {
			t.Fatal(err)
		}
		p.Sets[coins] = append(p.Sets[coins], sets)
	}
	for c := range columns {
		values := drawValues(t, rng, len(rows))
		for i := range rows {
			rows[i].values = append(rows[i].values, values[i])
		}
		for at := range slices.Chunk(values, table.BlockRows) {
			p.Columns[c] = append(p.Columns[c], block(t, at))
		}
	}
	return p
}

func block(t rapid.TB, values []*int64) table.Block {
	numbers, known := make([]int64, len(values)), table.NewBits(len(values))
	for i, v := range values {
		if v != nil {
			numbers[i] = *v
			known.Set(i)
		}
	}
	b, err := table.NewBlock(numbers, known)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if got, ok := b.At(i); ok != (v != nil) || ok && got != *v {
			t.Fatalf("value %d is %d, known %t", i, got, ok)
		}
	}
	return b
}

// drawQuery asks for values that are there, those beside them, and others.
func drawQuery(t *rapid.T, rows []plain) table.Query {
	value := func(label string) int64 {
		v := rapid.Int64Range(-table.MostValue, table.MostValue).Draw(t, label)
		if len(rows) > 0 && rapid.IntRange(0, 3).Draw(t, "of a row") > 0 {
			if of := rapid.SampledFrom(rows).Draw(t, "row").values[rapid.IntRange(0, columns-1).Draw(t, "column")]; of != nil {
				v = *of + rapid.Int64Range(-1, 1).Draw(t, "beside")
			}
		}
		return rapid.SampledFrom([]int64{v, v, v, math.MinInt64, math.MaxInt64}).Draw(t, "value")
	}
	q := table.Query{
		Order: rapid.IntRange(0, columns-1).Draw(t, "order"), Ascending: rapid.Bool().Draw(t, "ascending"), Unordered: rapid.IntRange(0, 5).Draw(t, "unordered") == 0,
		Offset: rapid.IntRange(0, 50).Draw(t, "offset"), Limit: rapid.SampledFrom([]int{0, 1, 20, 200, 5000}).Draw(t, "limit"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "filters") {
		low, high := value("low"), value("high")
		q.Filters = append(q.Filters, table.Filter{
			Column: rapid.IntRange(0, columns-1).Draw(t, "column"), Low: min(low, high), High: max(low, high),
			Outside: rapid.IntRange(0, 2).Draw(t, "outside") == 0, Null: rapid.IntRange(0, 7).Draw(t, "null") == 0,
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "sets") {
		q.Sets = append(q.Sets, table.SetFilter{
			Names: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"0", "1", "2", "3", "4", "no such"}), 0, 4, rapid.ID[string]).Draw(t, "names"),
			Kind:  rapid.SampledFrom([]table.SetKind{table.Any, table.All, table.None, table.Only, table.Some}).Draw(t, "kind"), Column: coins,
		})
	}
	if rapid.IntRange(0, 4).Draw(t, "by address") == 0 {
		q.Addresses = []table.Address{{1}}
		for range rapid.IntRange(0, 30).Draw(t, "addresses") {
			if len(rows) > 0 {
				q.Addresses = append(q.Addresses, rapid.SampledFrom(rows).Draw(t, "row").address)
			}
		}
	}
	return q
}

// passes is the meaning of a query, in plain words.
func passes(q *table.Query, r *plain) bool {
	if r.hidden || q.Addresses != nil && !slices.Contains(q.Addresses, r.address) {
		return false
	}
	for _, f := range q.Filters {
		v := r.values[f.Column]
		switch {
		case f.Null:
			if v != nil {
				return false
			}
		case v == nil, (f.Low <= *v && *v <= f.High) == f.Outside:
			return false
		}
	}
	for _, f := range q.Sets {
		n := 0
		for _, name := range f.Names {
			if r.sets[name] {
				n++
			}
		}
		if ok := map[table.SetKind]bool{table.Any: n > 0, table.All: n == len(f.Names), table.None: n == 0, table.Only: n > 0 && n == len(r.sets), table.Some: len(r.sets) > 0}[f.Kind]; !ok {
			return false
		}
	}
	return true
}

func TestAQueryIsAnsweredAsAPlainLoopWould(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts, rows := world(t)
		for range 5 {
			q := drawQuery(t, rows)
			var want []*plain
			for i := range rows {
				if passes(&q, &rows[i]) {
					want = append(want, &rows[i])
				}
			}
			total := len(want)
			slices.SortFunc(want, func(x, y *plain) int { return cmp.Or(order(&q, x, y), bytes.Compare(x.address[:], y.address[:])) })
			want = want[min(q.Offset, len(want)):]
			want = want[:min(q.Limit, len(want))]
			got, err := q.Run(context.Background(), parts)
			if err != nil || got.Total != total || len(got.Rows) != len(want) {
				t.Fatalf("%+v: %d rows of %d, want %d of %d (%v)", q, len(got.Rows), got.Total, len(want), total, err)
			}
			for i, row := range got.Rows {
				if a := parts[row.Part].Addresses[row.Row]; a != want[i].address || row.Part != want[i].part {
					t.Fatalf("%+v: row %d is %x of part %d, want %x of %d", q, i, a, row.Part, want[i].address, want[i].part)
				}
			}
		}
	})
}

func order(q *table.Query, x, y *plain) int {
	a, b := x.values[q.Order], y.values[q.Order]
	switch {
	case q.Unordered, a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	case q.Ascending:
		return cmp.Compare(*a, *b)
	}
	return cmp.Compare(*b, *a)
}

func TestARowIsFoundByItsAddress(t *testing.T) {
	t.Parallel()
	var addresses []table.Address
	for n := range 1000 {
		var a table.Address
		binary.BigEndian.PutUint16(a[18:], uint16(n))
		addresses = append(addresses, a)
	}
	p := table.NewPart(addresses)
	for n, a := range addresses {
		if row, ok := p.Find(a); !ok || row != n {
			t.Errorf("row %d is found at %d, %t", n, row, ok)
		}
	}
	if _, ok := p.Find(table.Address{9}); ok {
		t.Error("a row is found that is not there")
	}
	if _, ok := table.NewPart(nil).Find(table.Address{}); ok {
		t.Error("a row is found in a part without rows")
	}
}

func TestWhatABlockCannotHoldIsRefused(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]int64{
		"too many rows": make([]int64, table.BlockRows+1), "too large": {0, table.MostValue + 1}, "too small": {math.MinInt64},
	} {
		if _, err := table.NewBlock(values, nil); err == nil {
			t.Errorf("%s: it is made", name)
		}
	}
}

func TestAColumnThatIsNotLoadedIsNoAnswer(t *testing.T) {
	t.Parallel()
	p := table.NewPart(make([]table.Address, 1))
	for name, q := range map[string]table.Query{
		"a filter": {Filters: []table.Filter{table.Known(3)}}, "the order": {Order: 3, Limit: 1}, "sets": {Sets: []table.SetFilter{{Kind: table.None, Column: 3}}},
	} {
		if _, err := q.Run(t.Context(), []*table.Part{p}); err == nil {
			t.Errorf("%s: it is answered", name)
		}
	}
	counted := must.Get((&table.Query{}).Run(t.Context(), []*table.Part{p}))(t)
	if counted.Total != 1 {
		t.Errorf("%d rows, want one", counted.Total)
	}
}

func TestAQueryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&table.Query{}).Run(ctx, []*table.Part{table.NewPart(make([]table.Address, 1))}); err == nil {
		t.Error("it is answered")
	}
}

func TestWhoBelongsToASetIsToldOnceAndInOrder(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]uint16{"no row": {3}, "twice": {1, 1}, "not in order": {2, 1}} {
		if _, err := table.NewSetBlock(3, map[string][]uint16{"BTC": rows}); err == nil {
			t.Errorf("%s: it is made", name)
		}
	}
	b := must.Get(table.NewSetBlock(3, map[string][]uint16{"BTC": {0, 2}}))(t)
	for row, want := range []bool{true, false, true} {
		if b.Has(row, "BTC") != want || b.Has(row, "ETH") {
			t.Errorf("row %d belongs to BTC: %t, ETH: %t", row, b.Has(row, "BTC"), b.Has(row, "ETH"))
		}
	}
}

// A history names as many perpetuals as a venue has told of: room for all rows in each is a gigabyte.
func TestSetsThatAreMadeInAnyOrderAreThoseOfAList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) //nolint:gosec // rapid's
		rows, made, lists := 1+rng.IntN(table.BlockRows), table.SetMaker{}, map[string][]uint16{}
		for _, name := range []string{"few", "many"} {
			members := map[uint16]bool{}
			for range map[string]int{"few": 100, "many": 9000}[name] {
				row := rng.IntN(rows)
				made.Add(name, row)
				members[uint16(row)] = true //nolint:gosec // it is a row
			}
			lists[name] = slices.Sorted(maps.Keys(members))
		}
		got, want := must.Get(made.Block(rows))(t), must.Get(table.NewSetBlock(rows, lists))(t)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("they are not: %d bytes, want %d", got.Bytes(), want.Bytes())
		}
		got.Each(func(name string, members iter.Seq[int]) {
			list := make([]int, 0, len(lists[name]))
			for _, row := range lists[name] {
				list = append(list, int(row))
			}
			if each := slices.Collect(members); !slices.Equal(each, list) {
				t.Fatalf("%s has %d members, want %d", name, len(each), len(list))
			}
		})
	})
	many := table.SetMaker{}
	for name := range 50_000 {
		many.Add(fmt.Sprint(name), name%7)
	}
	if b := must.Get(many.Block(table.BlockRows))(t); b.Bytes() > 8<<20 || !b.Has(3, "10") {
		t.Errorf("one member each of 50,000 sets takes %d bytes", b.Bytes())
	}
	if _, err := many.Block(6); err == nil {
		t.Error("a row that a block has not is in a set")
	}
}
