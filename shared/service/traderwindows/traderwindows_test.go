package traderwindows_test

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/traderhistory"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/service/traderwindows"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
	"quotary/shared/traderquery"
)

// year is a trader table and a history of a year, whose files all have the same rows.
type year struct {
	table, deeds []byte
	history      traderhistory.Manifest
	reads        atomic.Int64
}

const hourMs = int64(time.Hour / time.Millisecond)

// now is in the last hour of a day that is not the last of its week.
var now = time.Date(2026, 11, 25, 23, 30, 0, 0, time.UTC)

// newYear returns one of so many traders, of whose files it is said that each has so many bytes more.
func newYear(t testing.TB, rows int, more int64) *year {
	t.Helper()
	y := &year{history: traderhistory.Manifest{Version: now.UnixMilli()}}
	var did []traderhistory.Did
	var list []traders.Trader
	for n := range rows {
		a := table.Address{}
		binary.BigEndian.PutUint64(a[12:], uint64(n+1)) //nolint:gosec // there are few
		f := &market.Facts{Coins: []string{"BTC"}, Perp: market.FillFacts{Taker: market.FillSum{Count: 1, Value: market.DecimalFromInt(int64(n))}}}
		if n == 0 {
			f.Spot.Taker = market.FillSum{Count: 1, Value: market.DecimalFromInt(410_000_000)} // of 24 files as much as one holds
		}
		did, list = append(did, traderhistory.Did{Address: a, Facts: f}), append(list, traders.Trader{Address: a})
	}
	y.table = must.Get(tablefile.Bytes(traders.Columns(), traders.Part(list)))(t)
	y.deeds = must.Get(tablefile.Bytes(traderhistory.Columns(), traderhistory.Part(did)))(t)
	for _, hours := range []int64{traderhistory.Hour, traderhistory.Day, traderhistory.Week} {
		from := traderhistory.StartOf(now.UnixMilli()-hours*hourMs, hours)
		for range 370 * 24 / hours {
			y.history.Put(traderhistory.Unit{From: from, Hours: hours, Version: 1, Bytes: int64(len(y.deeds)) + more})
			from -= hours * hourMs
		}
	}
	return y
}

func (y *year) Range(_ context.Context, key string, offset, n int64) ([]byte, error) {
	y.reads.Add(1)
	body := y.deeds
	if key == "table" {
		body = y.table
	}
	if offset+n > int64(len(body)) {
		return nil, errors.New("there is not so much")
	}
	return body[offset : offset+n], nil
}

// ask asks anew for the last days, and returns how many requests of objects that took.
func (y *year) ask(days int64, change func(*catalog.DiscoverHistoryIn)) (a traderwindows.Answer, reads int64, err error) {
	in := &catalog.DiscoverHistoryIn{PageNum: 1, PageSize: 25, Period: catalog.Days(days)}
	change(in)
	q, of, err := traderquery.History(in, now)
	if err != nil {
		return a, 0, err
	}
	of = traderwindows.Window{From: of.To - hourMs - days*24*hourMs, To: of.To - hourMs} // of full hours, as the test knows them
	y.reads.Store(0)
	a, err = y.open(1<<20).Ask(context.Background(), of, &q.Query, q.Show)
	return a, y.reads.Load(), err
}

// open opens it with room for so many bytes.
func (y *year) open(bytes int) *traderwindows.Windows {
	manifest := tablefile.Manifest{Version: 1, Files: []tablefile.Named{{Key: "table", Bytes: int64(len(y.table))}}}
	newest := func(context.Context) (tablefile.Manifest, error) { return manifest, nil }
	history := func(context.Context) (traderhistory.Manifest, error) { return y.history, nil }
	return traderwindows.New(tablefile.NewReader(traders.Columns(), newest, y, bytes), history, y, bytes)
}

// all asks for all figures, which are asked for 150 at a time.
func all(in *catalog.DiscoverHistoryIn) {
	for i := range traderfields.Fields {
		name := traderfields.Fields[i].Name
		if _, _, err := traderquery.History(&catalog.DiscoverHistoryIn{Selects: append(in.Selects, name)}, now); err == nil {
			in.Selects = append(in.Selects, name)
		}
	}
}

func TestAYearOfAllFiguresTakesFewRequestsAFile(t *testing.T) {
	t.Parallel()
	const most = 60 // of the trader table
	y := newYear(t, 60, 0)
	files := int64(len(y.history.Cover(now.UnixMilli()-365*24*hourMs, now.UnixMilli())))
	a, reads, err := y.ask(365, all)
	// Of each file the footer and the addresses, and its columns by sixteen; and before that those by which
	// traders are ordered.
	if columns := int64(len(traderhistory.Columns())); err != nil || len(a.Rows) != 25 || files < 60 || reads > files*(5+columns/16)+most {
		t.Errorf("%d rows, by %d requests for %d files of %d columns (%v)", len(a.Rows), reads, files, columns, err)
	}
	a, reads, err = y.ask(365, func(in *catalog.DiscoverHistoryIn) {
		in.Coins, in.Sort = []catalog.Coin{"BTC"}, &catalog.DiscoverSort{Field: "trFills"}
	})
	if err != nil || a.Total != 60 || reads > files*10+most {
		t.Errorf("%d traders, by %d requests for %d files (%v)", a.Total, reads, files, err)
	}
}

func TestAQuestionThatReadsTooMuchIsRefusedBeforeItReads(t *testing.T) {
	t.Parallel()
	y := newYear(t, 1, 40<<20)
	if _, reads, err := y.ask(365, all); !errors.Is(err, traderwindows.ErrTooMuch) || reads > 0 {
		t.Errorf("behind %d requests the error is %v", reads, err)
	}
	one := func(in *catalog.DiscoverHistoryIn) {
		in.Selects, in.Sort = []string{"trFills"}, &catalog.DiscoverSort{Field: "trFills"}
	}
	if _, _, err := y.ask(365, one); errors.Is(err, traderwindows.ErrTooMuch) {
		t.Error("one figure of a year is refused")
	}
}

// TestASumOfTooManyDigitsIsNull, and all figures that are made of it: they come last, and pass no filter.
func TestASumOfTooManyDigitsIsNull(t *testing.T) {
	t.Parallel()
	y := newYear(t, 3, 0)
	fields := []string{"trFilledVal", "trTakerVal", "acTotalVlm", "trFeeRate", "trFills", "tpFilledVal"}
	files := map[int64]int64{1: 24, 2: 25} // hours, and a day among them
	for days, known := range map[int64]bool{1: true, 2: false} {
		in := func(in *catalog.DiscoverHistoryIn) {
			in.Selects, in.Sort = fields, &catalog.DiscoverSort{Field: "trFilledVal"}
		}
		a, _, err := y.ask(days, in)
		if err != nil || len(a.Rows) != 3 {
			t.Fatalf("%d rows (%v)", len(a.Rows), err)
		}
		at := 2
		if known {
			at = 0
		}
		for i, name := range fields {
			v := a.Rows[at].Values[i]
			if v.Known != (known || name == "trFills" || name == "tpFilledVal") || name == "trFills" && v.Value != 2*files[days] {
				t.Errorf("in %d days %s is %+v", days, name, v)
			}
		}
		a, _, err = y.ask(days, func(h *catalog.DiscoverHistoryIn) {
			in(h)
			h.Filters = []catalog.DiscoverFilter{{Field: "acTotalVlm", Op: ">=", Val: &catalog.Decimal{}}}
		})
		if want := map[bool]int{true: 3, false: 2}[known]; err != nil || a.Total != want {
			t.Errorf("in %d days %d traders have a volume, want %d (%v)", days, a.Total, want, err)
		}
	}
}
