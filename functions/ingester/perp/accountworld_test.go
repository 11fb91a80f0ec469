package perp

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/accounts"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

const (
	faultyAccount = "0xa11ce00000000000000000000000000000000001"
	soon          = 100 * time.Millisecond
)

// accountWorld is the projection of accounts over what it has written, with a clock.
type accountWorld struct {
	t     *testing.T
	disk  *disk
	set   *set
	p     *accountStates
	now   time.Time
	trade map[string]market.CompletedTrade // by coin and size, as written
	rows  map[store.SeriesAt]store.Point   // as written last
}

func newAccountWorld(t *testing.T) *accountWorld {
	t.Helper()
	w := &accountWorld{t: t, disk: newDisk(), now: noon, trade: map[string]market.CompletedTrade{}, rows: map[store.SeriesAt]store.Point{}}
	w.p = newAccountStates(newWantedAccounts(1_000_000), slog.New(slog.DiscardHandler))
	w.set = &set{all: []Projection{w.p}, logs: w.disk.part}
	w.p.Joined()
	return w
}

// apply applies a batch, and lets a time pass in which nothing comes.
func (w *accountWorld) apply(b *Batch, pass time.Duration) engine.Changes {
	w.t.Helper()
	w.disk.put(b)
	var c engine.Changes
	for step := 0; ; step++ {
		must.Get(w.set.apply(b, w.now, w.disk.load))(w.t)
		c = w.set.changes(w.now, true)
		namesWhoChanged(w.t, &c)
		for _, r := range c.Fine {
			w.rows[store.SeriesAt{SeriesKey: r.SeriesKey, Time: r.Time}] = r.Point
		}
		for _, log := range c.Log {
			if log.Dataset == accountchanges.Name {
				continue
			}
			for _, r := range log.Rows {
				trade := must.Get(completedtrades.Decode(r))(w.t)
				w.trade[trade.Coin+" "+market.Text(trade.Size)] = trade
				w.disk.log[fmt.Sprintf("%s %q %d %q", log.Dataset, r.Subject, r.Time.UnixMilli(), r.ID)] = r
			}
		}
		if pass <= 0 && step > 0 {
			return c
		}
		b, w.now, pass = NewBatch(), w.now.Add(min(pass, time.Second)), pass-time.Second
	}
}

// lines reads lines of a node's files.
func lines(t *testing.T, read func(*market.Events, string, int64) (int, error), skipped int, list ...string) *Batch {
	t.Helper()
	b, n := NewBatch(), 0
	for _, line := range list {
		some, _ := read(&b.Events, line, 0)
		n += some
	}
	if n != skipped {
		t.Errorf("%d skipped, want %d", n, skipped)
	}
	return b
}

func readFillLine(e *market.Events, line string, at int64) (skipped int, err error) {
	e.Fills, skipped, err = wire.ParseFills(e.Fills, line, at)
	return skipped, err
}

// step is a fill of the account in BTC, n seconds after noon.
func step(n int64, side market.Side, size, start, pnl string) market.Fill {
	return market.Fill{
		Address: faultyAccount, Coin: "BTC", Px: "100.0", Sz: size, Side: side, Time: noon.UnixMilli() + 1000*n, StartPosition: start, ClosedPnl: pnl,
		Fee: "0.1", FeeToken: "USDC", Dir: "-", Hash: "0x0", Oid: n, Tid: n, Crossed: true, Seq: n * 1_000_000,
	}
}

func blockLine(n int64, list ...market.Fill) string {
	text := `{"local_time":"2026-11-22T12:00:00","block_time":"2026-11-22T12:00:00","block_number":` + strconv.FormatInt(n, 10) + `,"events":[`
	for i := range list {
		if i > 0 {
			text += ","
		}
		text += `["` + list[i].Address + `",` + string(list[i].AppendJSON(nil)) + `]`
	}
	return text + `]}`
}

// publish reports whether the account is written now, and reads who is broken.
func (w *accountWorld) publish(settle bool, broken *[]string) (written bool) {
	w.t.Helper()
	c := w.set.changes(w.now, settle)
	for _, v := range c.Views {
		list := must.Get(accounts.PublishedBroken.Decode(v.Body))(w.t)
		*broken = list
	}
	return slices.ContainsFunc(c.Fine, func(r store.SeriesRow) bool { return r.SeriesKey == accounts.At(faultyAccount).SeriesKey })
}

// said is what the venue says of the account at a second after noon.
func said(second int64, size, cost string) market.Anchor {
	at := noon.UnixMilli() + 1000*second
	a := market.Anchor{Address: faultyAccount, SpotTime: at, Dexes: []market.AccountState{{Time: at}}}
	if size != "" {
		szi, value := mustParse(size), mustParse(size).Mul(mustParse("100"))
		a.Dexes[0].Positions = []market.PositionState{{Coin: "BTC", Szi: szi, Leverage: market.Leverage{Value: 7}, PositionValue: value.Abs(), UnrealizedPnl: value.Sub(mustParse(cost))}}
	}
	return a
}

func mustParse(text string) market.Decimal {
	d, err := market.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// namesWhoChanged wants the accounts whose rows are written named as changed, and those apart that did
// something.
func namesWhoChanged(t testing.TB, c *engine.Changes) {
	t.Helper()
	want := map[string]bool{} // whether it did something
	for _, row := range c.Fine {
		if row.SeriesKey == accounts.At(row.Key).SeriesKey {
			open := traderfacts.OpenAt(row.Key)
			want[row.Key] = slices.ContainsFunc(c.Fine, func(r store.SeriesRow) bool { return r.SeriesKey == open.SeriesKey && r.Time.Equal(open.Time) })
		}
	}
	got := map[string]bool{}
	for _, log := range c.Log {
		for _, row := range log.Rows {
			if log.Dataset != accountchanges.Name {
				continue
			}
			named := must.Get(accountchanges.Decode(&row))(t)
			for _, did := range named.Did {
				got[market.AddressOf(did.Address)] = true
			}
			for _, other := range named.Others {
				got[market.AddressOf(other)] = false
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("named as changed are %v, want %v", got, want)
	}
}
