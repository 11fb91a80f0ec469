package traders_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	publishing "quotary/functions/ingester/traders"
	"quotary/shared/data/datatest"
	"quotary/shared/data/traderhistory"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/service/traderwindows"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/traderfields"
)

// windows is what answers about the past, anew.
func (w *world) windows() *traderwindows.Windows {
	history := traderhistory.Newest.Open(w.Views, time.Now)
	return traderwindows.New(datatest.OpenTraders(w.Views, w.Objects, w.Bucket), history.Get, &tablefile.Bucket{Client: w.Objects, Name: w.Bucket}, 1<<26)
}

// past is what an account's row is to be made of in a window.
func (w *world) past(a *account, of traderwindows.Window) *traderfields.Trader {
	did := rounded(a.did).Within(of.From, of.To)
	for _, hour := range w.routed(a) {
		if hour.ms >= of.From && hour.ms < of.To {
			one := rounded(market.FactsByHour{0: {Routed: hour.did}})[0]
			did.Add(one)
		}
	}
	stats := market.TraderStats{}
	for _, hour := range sortedHours(a.worth) {
		markettest.Valued(&stats, hour, a.worth[hour])
	}
	var ends [2]traderhistory.Worth
	for i, ms := range [...]int64{of.From, of.To} {
		ends[i] = traderhistory.WorthOf(a.address, stats.Curve, market.Day1.StartMs(ms))
	}
	held := a.state.Summary(w.markets, w.marks, w.ms)
	return &traderfields.Trader{
		Holds: &held, Did: map[traderfields.Period]*market.Window{traderhistory.Period: &did},
		Worth: map[traderfields.Period]traderfields.Worth{traderhistory.Period: traderhistory.Ends(&ends[0], &ends[1])},
	}
}

// rounded has the amounts of each hour as a history keeps them: of spot markets to eight places, as those
// of fees in tokens have more.
func rounded(did market.FactsByHour) market.FactsByHour {
	all := market.FactsByHour{}
	for hour, f := range did {
		one := *f
		for _, d := range []*market.Decimal{&one.Spot.Maker.Value, &one.Spot.Taker.Value, &one.Spot.Maker.Fee, &one.Spot.Taker.Fee, &one.Perp.Maker.Fee, &one.Perp.Taker.Fee, &one.Routed.Fee, &one.Routed.BuilderFee} {
			*d = d.RoundHAZ(8)
		}
		for _, d := range []*market.Decimal{&one.Perp.Maker.Value, &one.Perp.Taker.Value, &one.Routed.Value, &one.Closed.Value, &one.LiquidatedLong.Value, &one.LiquidatedShort.Value} {
			*d = d.RoundHAZ(6)
		}
		all[hour] = &one
	}
	return all
}

// asked are the fields that a window has.
func asked() (list []int) {
	for i := range traderfields.Fields {
		f := &traderfields.Fields[i]
		switch f.Group {
		case "completed positions", "fills", "perp fills", "filled orders", "builders", "liquidation", "account snapshot", traderfields.ValueChange:
			list = append(list, i)
		}
	}
	return list
}

// TestAnyWindowIsWhatItsHoursSumUp: every figure of every trader in random windows, as rows and as what
// traders are ordered by, while accounts go on and correct what was, days and weeks end, and other
// processes take over.
func TestAnyWindowIsWhatItsHoursSumUp(t *testing.T) {
	t.Parallel()
	w := open(t)
	r := rand.New(rand.NewPCG(3, 9)) //nolint:gosec // the same each time
	for n := range 9 {
		var times []int64
		for range n {
			times = append(times, w.ms-r.Int64N(18*24)*hourMs)
		}
		w.add(n%3 == 0, times...)
	}
	work := w.term()
	for step := range testenv.Amount(4, 200) {
		if step%3 == 2 {
			work = w.term()
		}
		a := w.accounts[r.IntN(len(w.accounts))]
		a.do(step, w.ms)
		if back := w.ms - r.Int64N(9*24)*hourMs; step%2 == 0 { // something is known later than it was
			a.do(step, back)
		}
		w.store(a)
		must.Do(t, work.Publish(t.Context()))
		for w.isLate() {
			w.ms += 121 * 60_000
			must.Do(t, work.Publish(t.Context()))
		}
		w.compareWindows(r, 3)
		w.ms += (1 + r.Int64N(11)) * 5 * hourMs / 12
	}
}

// isLate reports whether hours of long ago are still to be looked at.
func (w *world) isLate() bool {
	w.t.Helper()
	return must.Get(traderhistory.Newest.Load(w.t.Context(), w.Views))(w.t).Late.Bytes > 0
}

func (w *world) compareWindows(r *rand.Rand, windows int) {
	t := w.t
	t.Helper()
	answers, fields := w.windows(), asked()
	for range windows {
		hour := w.ms - w.ms%hourMs
		from := hour - r.Int64N(20*24)*hourMs
		of := traderwindows.Window{From: from, To: min(hour+hourMs, from+(1+r.Int64N(20*24))*hourMs)}
		order := fields[r.IntN(len(fields))]
		a := must.Get(answers.Ask(t.Context(), of, &table.Query{Order: order, Limit: len(w.accounts) + 1}, fields))(t)
		if a.Total != len(w.accounts) || len(a.Rows) != len(w.accounts) {
			t.Fatalf("%d rows of %d traders", a.Total, len(w.accounts))
		}
		w.compareCoins(answers, of)
		at := map[table.Address]*account{}
		for _, one := range w.accounts {
			at[one.address] = one
		}
		var last tablefile.Value
		for n, row := range a.Rows {
			want := w.past(at[row.Address], of)
			for i, f := range fields {
				if isEdge(f) && !w.knowsWorth(of) {
					continue
				}
				v, known := traderfields.Fields[f].Figure(want, traderhistory.Period)
				if isSharpeOfHugeRates(f, want) {
					v, known = 0, false
				}
				if row.Values[i] != (tablefile.Value{Value: v, Known: known}) {
					t.Fatalf("%s: %s of %s from %d to %d is %+v, want %d, known %t", w.now(), traderfields.Fields[f].Name, market.AddressOf(row.Address), of.From, of.To, row.Values[i], v, known)
				}
				if f != order {
					continue
				}
				if now := row.Values[i]; n > 0 && (now.Known && !last.Known || now.Known && now.Value > last.Value) {
					t.Fatalf("%s of row %d is %+v, behind %+v", traderfields.Fields[f].Name, n, now, last)
				}
				last = row.Values[i]
			}
		}
	}
}

// compareCoins counts who traded one perpetual in a window.
func (w *world) compareCoins(answers *traderwindows.Windows, of traderwindows.Window) {
	w.t.Helper()
	for _, coin := range []string{"BTC", "ETH"} {
		want := 0
		for _, a := range w.accounts {
			did := a.did.Within(of.From, of.To)
			if slices.Contains(did.Did.Coins, coin) {
				want++
			}
		}
		traded := table.SetFilter{Column: traderwindows.Coins(), Names: []string{coin}, Kind: table.Any}
		if a := must.Get(answers.Ask(w.t.Context(), of, &table.Query{Sets: []table.SetFilter{traded}}, nil))(w.t); a.Total != want {
			w.t.Fatalf("%d traded %s from %d to %d, want %d", a.Total, coin, of.From, of.To, want)
		}
	}
}

// ending fails from some request on that writes or removes, as for a process that ends there.
type ending struct {
	publishing.Objects
	left int
}

var errEnded = errors.New("the process has ended")

func (e *ending) PutObject(ctx context.Context, in *s3.PutObjectInput, o ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if e.left--; e.left < 0 {
		return nil, errEnded
	}
	return e.Objects.PutObject(ctx, in, o...)
}

func (e *ending) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, o ...func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
	if e.left--; e.left < 0 {
		return nil, errEnded
	}
	return e.Objects.DeleteObject(ctx, in, o...)
}

func TestTheHistoryAndTheTableAreWholeWhereverAPublicationEnds(t *testing.T) {
	t.Parallel()
	w := open(t)
	for n := range 3 {
		w.add(false, w.ms-int64(n)*hourMs, w.ms-dayMs)
	}
	r := rand.New(rand.NewPCG(5, 5)) //nolint:gosec // the same each time
	must.Do(t, w.term().Publish(t.Context()))
	for n := 0; ; n++ {
		left := n * n // requests
		a := w.accounts[n%3]
		a.do(left, w.ms)
		a.do(left, w.ms-40*hourMs)
		w.store(a)
		c := w.config()
		c.Objects = &ending{w.Objects, left}
		if err := c.Begin().Publish(t.Context()); err == nil {
			break
		}
		w.ms += 3 * 60_000
		must.Do(t, w.term().Publish(t.Context()))
		w.compareWindows(r, 1)
		rows := w.rows()
		for _, one := range w.accounts {
			w.has(rows[one.address], w.trader(one), isDone)
		}
		w.ms += 50 * 60_000
	}
}

// counting counts the files of hours that are written and read.
type counting struct {
	publishing.Objects
	mu              sync.Mutex
	written, opened map[string]bool
}

func (c *counting) PutObject(ctx context.Context, in *s3.PutObjectInput, o ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	c.mu.Lock()
	c.written[*in.Key] = true
	c.mu.Unlock()
	return c.Objects.PutObject(ctx, in, o...)
}

func (c *counting) GetObject(ctx context.Context, in *s3.GetObjectInput, o ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	c.mu.Lock()
	c.opened[*in.Key] = true
	c.mu.Unlock()
	return c.Objects.GetObject(ctx, in, o...)
}

// longAgo is how many files were written of hours before the recent ones.
func (c *counting) longAgo(w *world) (n int) {
	recent := w.ms - w.ms%hourMs - 48*hourMs
	for key := range c.written {
		name, is := strings.CutSuffix(strings.TrimPrefix(key, traderhistory.Prefix), ".parquet")
		_, of, isHour := strings.Cut(name, "-1h-")
		if from, err := strconv.ParseInt(of, 10, 64); is && isHour && err == nil && from < recent {
			n++
		}
	}
	return n
}

// Who is made again from its logs is noted with the beginning of these: a fill that does not follow the
// one before is enough. All hours of its past are then looked at once, some at a time and of some accounts, and no
// publication waits for that.
func TestWhatIsKnownOfLongAgoIsTakenInSomeHoursOfSomeAccountsAtATime(t *testing.T) {
	t.Parallel()
	for atOnce, most := range map[int]int{1: 5, 9: 4} {
		t.Run(strconv.Itoa(atOnce), func(t *testing.T) {
			t.Parallel()
			w := open(t)
			c := w.config()
			c.LateHours, c.LateAtOnce = 8, atOnce
			did := func(a *account, ago int64) {
				hour := w.ms - w.ms%hourMs - ago*hourMs
				a.did.Merge(market.FactsByHour{hour: {Coins: []string{"BTC"}, Perp: market.FillFacts{Orders: market.Distinct{First: 1}, Taker: market.FillSum{Count: 1, Value: one("3")}}}})
				a.since = hour
			}
			busy, other := w.add(false), w.add(false)
			for ago := range int64(73) {
				did(busy, ago)
			}
			w.store(busy)
			must.Do(t, c.Begin().Publish(t.Context()))
			busy.since = w.ms - w.ms%hourMs - 72*hourMs
			w.store(busy)
			noted, hour := w.ms, w.ms-w.ms%hourMs
			did(other, 70) // which is in no file
			w.store(other)
			objects := &counting{Objects: w.Objects}
			c.Objects = objects
			work, looked := c.Begin(), 0
			for n := 0; n == 0 || w.isLate(); n++ {
				w.ms += 50 * 60_000
				objects.written, objects.opened = map[string]bool{}, map[string]bool{}
				if n%5 == 4 {
					work = c.Begin()
				}
				must.Do(t, work.Publish(t.Context()))
				old := objects.longAgo(w)
				if old > 0 {
					looked++
				}
				// Files of hours, and of days and weeks that these are in, with those that they are made of; the table beside.
				if written, read := len(objects.written), len(objects.opened); old > 8 || old > 0 && w.ms < noted+2*hourMs || written > 48+8+6+10 || read > 48+8+5*24+20 || n > 40 {
					t.Fatalf("publication %d writes %d files, %d of them of hours of long ago, and reads %d", n, written, old, read)
				}
			}
			// Of the one 24 hours and the two that went by, eight at a time, and of the other one hour.
			if looked < most-1 || looked > most {
				t.Errorf("files of hours of long ago are written in %d publications, want at most %d", looked, most)
			}
			w.compareWindows(rand.New(rand.NewPCG(2, 1)), 3) //nolint:gosec // the same each time
			w.compareCoins(w.windows(), traderwindows.Window{From: hour - 71*hourMs, To: hour - 69*hourMs})
		})
	}
}

func isEdge(field int) bool {
	f := &traderfields.Fields[field]
	return f.Group == traderfields.ValueChange && len(traderhistory.Needs(f)) == 0
}

// isSharpeOfHugeRates reports whether what a figure is made of has too many digits for a history: no genuine
// position gains a million times its value.
func isSharpeOfHugeRates(field int, of *traderfields.Trader) bool {
	return traderfields.Fields[field].Name == "sharpe" && of.Did[traderhistory.Period].Did.Closed.Squares.GreaterThan(market.DecimalFromInt(tablefile.Most))
}

// knowsWorth reports whether the ends of a window were published: the world begins at some hour.
func (w *world) knowsWorth(of traderwindows.Window) bool {
	return market.Day1.StartMs(of.From) > w.began && market.Day1.StartMs(of.To) > w.began
}

// A figure of which a column was forgotten would differ from the one of all columns.
func TestFiguresNeedNoMoreThanTheirColumns(t *testing.T) {
	t.Parallel()
	for i := range traderfields.Fields {
		f := &traderfields.Fields[i]
		switch need := traderhistory.Needs(f); {
		case isEdge(i), f.Adds == traderfields.Latest, f.Group == "all orders", f.Group == "net flows", f.Group == "max drawdown":
			if len(need) > 0 {
				t.Errorf("%s needs columns %v", f.Name, need)
			}
		case len(need) == 0:
			t.Errorf("%s needs no column", f.Name)
		}
	}
}
