package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/localstack/sim/trading"
	"quotary/shared/backoff"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/upstream"
)

// pasts are the sources of the past of perpetuals: one of each venue, and that of all together.
type pasts struct {
	venues []*contractsPast
	coins  *coinsPast
}

// pastsOf are those of venues, on the world's clock.
func (w *world) pastsOf(venues ...venue) *pasts {
	spans := func() pastSpans {
		return pastSpans{config: w.config, stats: new(source.Stats), now: w.clock.Now}
	}
	p := &pasts{coins: &coinsPast{pastSpans: spans()}}
	for _, v := range venues {
		of, _ := v.Venue.(Contracts)
		lists := w.config.lister(v)
		p.venues = append(p.venues, &contractsPast{pastSpans: spans(), venue: patient(v, of), lists: lists})
		p.coins.venues = append(p.coins.venues, listedVenue{patient(v, of), lists})
	}
	return p
}

// past is those of the perpetuals of a world.
func (w *world) past(t *testing.T) *pasts {
	t.Helper()
	return w.pastsOf(onClock(w.perpetuals(t), w.clock.Now))
}

var errSlept = errors.New("everything was asked for")

// round has each source emit one round, from its position on, which are then those behind it.
// It returns the pause until the next one.
func (p *pasts) round(t *testing.T, positions map[int]engine.Position, emitted func(*Batch)) (pause time.Duration) {
	t.Helper()
	pause = pastEvery
	follow := func(n int, s *pastSpans, follow func(context.Context, engine.Position, engine.Sink[*Batch]) error) {
		t.Helper()
		err := follow(t.Context(), positions[n], func(_ context.Context, d engine.Delivery[*Batch]) error {
			if d.Batch != nil {
				emitted(d.Batch)
			}
			if d.Stored != nil {
				close(d.Stored)
			}
			positions[n] = d.Position
			return nil
		})
		if !errors.Is(err, errSlept) {
			t.Fatal(err)
		}
		pause = min(pause, s.next(s.now()).Sub(s.now()))
	}
	for n, one := range p.venues {
		one.sleep = func(context.Context, time.Duration) error { return errSlept }
		follow(n+1, &one.pastSpans, one.follow)
	}
	p.coins.sleep = func(ctx context.Context, _ time.Duration) error {
		for p.coins.asking() > 0 {
			if err := backoff.Sleep(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		return errSlept
	}
	follow(0, &p.coins.pastSpans, p.coins.follow)
	return pause
}

func (c *coinsPast) asking() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.busy)
}

// refusals is what was refused to the sources.
func (p *pasts) refusals() (n int64) {
	for _, one := range p.venues {
		n += one.stats.Malformed.Load()
	}
	return n + p.coins.stats.Malformed.Load()
}

// round has the sources emit one round into projections.
func (w *world) round(t *testing.T, m *memory, all []Projection, positions map[int]engine.Position) {
	t.Helper()
	w.past(t).round(t, positions, func(b *Batch) {
		for _, one := range all {
			m.apply(t, one, b, w.clock.Now())
		}
	})
}

func decimal(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

func TestThePastOfFollowedPerpetualsIsSaidToBeStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Depth.Contracts = 1
	said := map[string]pairpast.Past{}
	w.past(t).round(t, map[int]engine.Position{}, func(b *Batch) {
		for _, s := range b.Stored {
			if s.What == pairpast.Contracts {
				said[s.Pair] = s.Past
			}
		}
	})
	if got := said["btcswapusdt:binance"]; got != pairpast.AllStored {
		t.Errorf("of a followed perpetual it is said %+v, of all: %v", got, said)
	}
}

func TestThePastOfPerpetualsIsTheTruthOfTheExchange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Depth.Contracts = 2
	m := newMemory()
	all := []Projection{newFundings(), newInterests(), newRatios(market.LongAccounts)}
	positions := map[int]engine.Position{}
	w.round(t, m, all, positions)
	w.clock.Move(7 * time.Minute) // a restart, and what came since
	w.round(t, m, []Projection{newFundings(), newInterests(), newRatios(market.LongAccounts)}, positions)

	const pair = "btcswapusdt:binance"
	truth := w.Market("BTCUSDT", true)
	now := w.clock.Now().UnixMilli()
	first := noon.Add(-2*day).UnixMilli()/stepEvery*stepEvery + stepEvery
	part := func(s pairseries.Series[market.Bar], key string, at int64) market.Bar {
		t.Helper()
		tier := pairseries.Tiers[0]
		row, ok := m.rows[s.At(key, tier, at)]
		if !ok {
			t.Fatalf("%s of %s has no row at %d", s.Name(), key, at)
		}
		pack := must.Get(s.Decode(row.Body))(t)
		return pack[tier.Part.StartMs(at)]
	}
	points := 0
	for at := first; at <= now; at += stepEvery {
		points++
		value := decimal(t, truth.Amount(truth.Interest(at)*truth.Mark(at)))
		for s, key := range map[*pairseries.Series[market.Bar]]string{&pairseries.Interest: pair, &pairseries.CoinInterest: "btc:stable"} {
			if got := part(*s, key, at); !got.Close.Equal(value) || got.Last != at {
				t.Fatalf("%s at %d is %+v, %s wanted", s.Name(), at, got, value)
			}
		}
		if got := part(pairseries.Ratios, pair, at); !got.Close.Equal(decimal(t, trading.Decimal(truth.Longs(at), 4))) {
			t.Fatalf("accounts at %d are %+v", at, got)
		}
	}
	if points < 570 {
		t.Errorf("only %d points were compared", points)
	}
	for at := truth.Due(first); at <= now; at += truth.Period() {
		if got := part(pairseries.Funding, pair, at-1); got.Last != at-1 || !got.Close.Equal(decimal(t, strconv.FormatInt(truth.Paid(at), 10)).MustDiv(dec(100_000_000))) {
			t.Errorf("what was paid at %d is %+v, %d wanted", at, got, truth.Paid(at))
		}
		coin := decimal(t, strconv.FormatInt(truth.Paid(at)*8*3_600_000/truth.Period(), 10)).MustDiv(dec(100_000_000))
		if got := part(pairseries.CoinFunding, "btc", at-1); got.Last != at-1 || !got.Close.Equal(coin) {
			t.Errorf("what the coin's only perpetual paid for eight hours at %d is %+v, %s wanted", at, got, coin)
		}
	}
}

// The newest of everything comes before anything that is older than a window.
func TestTheNewestOfThePastComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Depth.Contracts = 3
	newest := noon.Add(-pastWindow).UnixMilli()
	var ratios, before int // shares of accounts of the newest window, and of before
	w.past(t).round(t, map[int]engine.Position{}, func(b *Batch) {
		for _, one := range b.Ratios {
			switch {
			case one.Time < newest:
				before++
			case before > 0:
				t.Fatalf("the share of %s at %d comes behind older ones", one.Pair, one.Time)
			default:
				ratios++
			}
		}
	})
	if ratios == 0 || before <= ratios {
		t.Errorf("%d and before %d", ratios, before)
	}
}

func TestWhatIsRefusedOfThePastIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ refusals, rounds int }{{1, 1}, {2, 2}, {4, 2}} { // a round asks for the newest of a perpetual twice
		w := newWorld(t)
		w.config.Depth.Contracts = 1
		w.config.Coins = []string{"BTC"}
		m := newMemory()
		v := onClock(w.perpetuals(t), w.clock.Now)
		of, _ := v.Venue.(Contracts)
		v.Venue = patient(v.Venue, &refusing{of, c.refusals})
		p := w.pastsOf(v)
		interest, positions := newInterests(), map[int]engine.Position{}
		for range c.rounds {
			pause := p.round(t, positions, func(b *Batch) { m.apply(t, interest, b, w.clock.Now()) })
			if pause > time.Minute && p.refusals() < int64(c.refusals) {
				t.Errorf("it asks again after %s", pause)
			}
			w.clock.Move(pause)
		}
		if n := p.refusals(); n != int64(c.refusals) {
			t.Fatalf("%d refused", n)
		}
		at := noon.Add(-pastLag).UnixMilli() / stepEvery * stepEvery
		for name, row := range map[string]store.SeriesAt{"sum": pairseries.CoinInterest.At("btc:stable", pairseries.Tiers[0], at), "perpetual": pairseries.Interest.At("btcswapusdt:binance", pairseries.Tiers[0], at)} {
			if _, ok := m.rows[row]; !ok {
				t.Errorf("refused %d times the %s was not asked for again in %d rounds", c.refusals, name, c.rounds)
			}
		}
	}
}

// A perpetual that is followed later has its own past open interest, which those that were
// followed before are not asked for again; what is no longer followed leaves the checkpoint.
func TestAPerpetualThatIsFollowedLaterHasItsPast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Depth.Contracts = 2
	first, second := newSteady("binance"), newSteady("bybit")
	positions := map[int]engine.Position{}
	w.rounds(t, positions, 1, first)
	asked := first.asked
	w.clock.Move(pastEvery)
	w.rounds(t, positions, 1, first, second)
	for at := noon.Add(-2*day).UnixMilli()/stepEvery*stepEvery + stepEvery; at <= w.clock.Now().Add(-pastLag).UnixMilli(); at += stepEvery {
		if !first.seen[at] || !second.seen[at] {
			t.Fatalf("open interest at %s was told of the one %t, of the other %t", time.UnixMilli(at).UTC(), first.seen[at], second.seen[at])
		}
	}
	if first.asked != asked+2 { // for itself, and for the sum
		t.Errorf("the one that was followed before was asked %d times more", first.asked-asked)
	}
	w.clock.Move(pastEvery)
	positions[1] = nil // of another venue
	w.rounds(t, positions, 1, second)
	for n, want := range [][]string{{"interest btc:stable", "rates btc"}, {"accounts " + second.pair.Key, "funding " + second.pair.Key, "interest " + second.pair.Key, "loans " + second.pair.Key, "topaccounts " + second.pair.Key, "toppositions " + second.pair.Key}} {
		if got := progressOf(t, positions[n]); !slices.Equal(got, want) {
			t.Errorf("the checkpoint holds %q, %q wanted", got, want)
		}
	}
}

// A pair that is refused has no past until it is not: the others of its sum have theirs, and
// nobody asks faster than the exchange tells of something new.
func TestAPerpetualThatIsRefusedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Depth.Contracts = 1
	fine, delisted := newSteady("binance"), newSteady("bybit")
	delisted.no = fmt.Errorf("ask for it: %w", &upstream.RefusedError{Status: http.StatusBadRequest})
	positions := map[int]engine.Position{}
	w.rounds(t, positions, 2, fine, delisted)
	for at := noon.Add(-day).UnixMilli()/stepEvery*stepEvery + stepEvery; at <= noon.UnixMilli(); at += stepEvery {
		if !fine.seen[at] {
			t.Fatalf("open interest of the other at %s was not told", time.UnixMilli(at).UTC())
		}
	}
	if passed := w.clock.Now().Sub(noon); passed < pastEvery/2 {
		t.Errorf("it was asked again after %s", passed)
	}
	w.clock.Move(pastEvery)
	delisted.asked = 0
	w.rounds(t, positions, 1, fine, delisted)
	if delisted.asked > 2 { // for itself, and for the sum
		t.Errorf("it was asked %d times in a round", delisted.asked)
	}
	delisted.no = nil
	w.rounds(t, positions, 2, fine, delisted)
	if !delisted.seen[noon.Add(-day/2).UnixMilli()/stepEvery*stepEvery] {
		t.Error("when it is no longer refused it has no past")
	}
}

// progressOf is what a checkpoint says was told.
func progressOf(t *testing.T, position engine.Position) []string {
	t.Helper()
	var held struct{ Told map[string]span }
	must.Do(t, json.Unmarshal(position, &held))
	return slices.Sorted(maps.Keys(held.Told))
}

// rounds has the sources ask exchanges for as many rounds, from their positions on.
func (w *world) rounds(t *testing.T, positions map[int]engine.Position, rounds int, all ...*steady) {
	t.Helper()
	var venues []venue
	for _, one := range all {
		venues = append(venues, venue{Venue: one})
	}
	p := w.pastsOf(venues...)
	for n := range rounds {
		pause := p.round(t, positions, func(b *Batch) {
			for _, past := range b.PastInterests {
				for _, i := range past.Interests {
					for _, one := range all {
						if i.Pair == one.pair.Key && past.Key == "" {
							one.seen[i.Time] = true
						}
					}
				}
			}
		})
		if n < rounds-1 {
			w.clock.Move(pause)
		}
	}
}

// steady is an exchange with one perpetual that tells of open interest alone.
type steady struct {
	reported
	Venue
	pair  market.Pair
	no    error // instead of an answer
	asked int
	seen  map[int64]bool // times of what was emitted, ms
}

func newSteady(platform string) *steady {
	return &steady{pair: perpetual("BTC", platform, false), seen: map[int64]bool{}}
}

func (s *steady) Pairs(context.Context) ([]market.Pair, error) { return []market.Pair{s.pair}, nil }

func (s *steady) PastInterests(_ context.Context, _ market.Pair, from, to int64) (list []market.PairInterest, _ error) {
	s.asked++
	if s.no != nil {
		return nil, s.no
	}
	for at := (from + stepEvery - 1) / stepEvery * stepEvery; at < to; at += stepEvery {
		list = append(list, market.PairInterest{Pair: s.pair.Key, Time: at, Value: dec(1)})
	}
	return list, nil
}

// refusing refuses to tell open interest a few times.
type refusing struct {
	Contracts
	left int
}

func (r *refusing) PastInterests(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairInterest, error) {
	if r.left > 0 {
		r.left--
		return nil, &upstream.RefusedError{Status: http.StatusTeapot}
	}
	return r.Contracts.PastInterests(ctx, pair, from, to)
}

func TestASumIsMadeOnlyWhereNoPerpetualIsMissing(t *testing.T) {
	t.Parallel()
	a, b := reported{{Pair: "a", Time: 5, Value: dec(1)}}, reported{{Pair: "b", Time: 6, Value: dec(2)}}
	for _, test := range []struct {
		name    string
		members []contract
		sums    int
		singles int
	}{
		{"both tell", []contract{{of: a}, {of: b}}, 2, 0},
		{"one is silent", []contract{{of: a}, {of: reported(nil)}}, 0, 0},
		{"none tells", []contract{{of: reported(nil)}}, 0, 0},
	} {
		got := must.Get(interestOf(t.Context(), "x:stable", test.members, 0, 10))(t)
		by := map[string]int{}
		for _, past := range got.PastInterests {
			by[past.Key] += len(past.Interests)
		}
		if by["x:stable"] != test.sums || by[""] != test.singles || got.Len() != test.sums+test.singles {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// A sum of those perpetuals alone whose past an exchange tells already would rise by all of
// another one's where that one begins.
func TestNoSumOfThePastIsMadeBeforeEveryPerpetualHasAFreshValue(t *testing.T) {
	t.Parallel()
	const a, b = "btcswapusdt:binance", "btcswapusdt:okx"
	start := noon.UnixMilli()
	at := func(step int64) int64 { return start + step*stepEvery }
	var points []market.PairInterest
	for step := range int64(8) { // a has all, b begins in the middle and pauses
		points = append(points, market.PairInterest{Pair: a, Time: at(step), Value: dec(100)})
		if step == 3 || step == 7 {
			points = append(points, market.PairInterest{Pair: b, Time: at(step), Value: dec(60)})
		}
	}
	m, p := newMemory(), newInterests()
	m.apply(t, p, &Batch{PastInterests: []PastInterest{{Key: "btc:stable", Interests: points}}}, noon)
	tier := pairseries.Tiers[0]
	for step := range int64(8) {
		var got market.Bar
		if row, ok := m.rows[pairseries.CoinInterest.At("btc:stable", tier, at(step))]; ok {
			pack := must.Get(pairseries.CoinInterest.Decode(row.Body))(t)
			got = pack[tier.Part.StartMs(at(step))]
		}
		fresh := step >= 3 && (at(step)-at(3) <= valueFor || step == 7)
		if !fresh && !got.Empty() || fresh && !got.Close.Equal(dec(160)) {
			t.Errorf("the sum at step %d is %+v, known %t", step, got, fresh)
		}
	}
}

// The rate of a coin at a time is the mean of what all of its perpetuals paid then, each for
// eight hours, by what was traded of them in the 24 hours before.
func TestTheFundingRateOfACoinInThePastIsThatOfAllWhoPaid(t *testing.T) {
	t.Parallel()
	const hour = int64(3_600_000)
	noon := market.Hour1.StartMs(noon.UnixMilli())
	end := noon + 16*hour + 1
	eight := paying{late: 8, period: 8 * hour, rates: map[int64]int64{noon: 1, noon + 8*hour: 10, noon + 16*hour: 100}, amount: 1}
	four := paying{period: 4 * hour, rates: map[int64]int64{noon: 2, noon + 4*hour: 30, noon + 8*hour: 20, noon + 16*hour: 200}, amount: 3}
	young := paying{period: 8 * hour, rates: map[int64]int64{noon + 16*hour: 400}, amount: 5, from: noon + 6*hour}
	// Weights are those of 24 hours: 24, 72 and, of the young one, ten hours of 5.
	for name, c := range map[string]struct {
		members []paying
		want    map[int64]market.Decimal // by the time of the payment
	}{
		"one":          {[]paying{eight}, map[int64]market.Decimal{noon: dec(1), noon + 8*hour: dec(10), noon + 16*hour: dec(100)}},
		"two periods":  {[]paying{eight, four}, map[int64]market.Decimal{noon: decimal(t, "3.25"), noon + 8*hour: decimal(t, "32.5"), noon + 16*hour: dec(325)}},
		"one is young": {[]paying{eight, four, young}, map[int64]market.Decimal{noon + 16*hour: decimal(t, "350.684931506849")}},
		"one is new":   {[]paying{eight, {}}, nil},
	} {
		var members []contract
		for _, m := range c.members {
			members = append(members, contract{of: m, venue: m})
		}
		b := must.Get(ratesOf(t.Context(), "btc", members, noon-hour, end))(t)
		got := map[int64]market.Decimal{}
		for _, one := range b.PastRates {
			got[one.Time+1] = one.Rate
		}
		if diff := cmp.Diff(c.want, got, equalDecimals, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Exchanges pay some milliseconds behind the hour, at which what is newest is asked for: what was
// paid must not come an hour later, as its bucket would close with what was expected until then.
func TestWhatIsPaidBehindAnHourIsAskedForWithIt(t *testing.T) {
	t.Parallel()
	const hour = int64(3_600_000)
	end := midnight
	pair := perpetual("BTC", "binance", false)
	for _, late := range []int64{0, 8, 20_000} {
		exchange := paying{rates: map[int64]int64{end - 8*hour: 3, end: 5}, late: late, period: 8 * hour}
		for _, a := range asksOfOne(contract{pair, exchange, exchange}) {
			if a.name != "funding "+pair.Key {
				continue
			}
			b := must.Get(a.of(t.Context(), end-hour+1, end+1))(t) // as at the first start in the hour
			if len(b.Fundings) != 1 || b.Fundings[0].At() != end-1 || !b.Fundings[0].Rate.Equal(dec(5)) {
				t.Errorf("%d ms late: %+v", late, b.Fundings)
			}
		}
	}
}

// What is paid closes the bucket that ends then, also where what was expected is newer.
func TestTheRateOfACoinClosesWithWhatWasPaid(t *testing.T) {
	t.Parallel()
	pair := perpetual("BTC", "binance", false)
	m := newMemory()
	m.listed(pair)
	p := m.restored(t, newFundings())
	due := midnight + 8*3_600_000
	for at := due - 120_000; at <= due+1000; at += 30_000 {
		m.apply(t, p, &Batch{PairEvents: market.PairEvents{
			Tickers:  []market.PairTicker{{Pair: pair.Key, Time: at, Amount: dec(5)}},
			Fundings: []market.PairFunding{{Pair: pair.Key, Time: at, Rate: dec(9)}},
		}}, time.UnixMilli(at))
	}
	m.apply(t, p, &Batch{PastRates: []PastRate{{"btc", due - 1, dec(8)}}}, time.UnixMilli(due+30_000))
	row := m.rows[pairseries.CoinFunding.At("btc", pairseries.Tiers[1], due-1)]
	pack := must.Get(pairseries.CoinFunding.Decode(row.Body))(t)
	want := market.Bar{Open: dec(9), High: dec(9), Low: dec(8), Close: dec(8), Time: due - 3_600_000, First: due - 60_002, Last: due - 1}
	if diff := cmp.Diff(want, pack[want.Time], equalDecimals); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// paying is an exchange that pays rates and trades as much in each hour from a time on.
type paying struct {
	reported
	Venue
	rates        map[int64]int64 // by time, ms
	late, period int64           // ms
	amount, from int64
}

func (p paying) PastFundings(_ context.Context, _ market.Pair, from, to int64) (list []market.PairFunding, _ error) {
	for _, at := range slices.Sorted(maps.Keys(p.rates)) {
		if at+p.late >= from && at+p.late < to {
			list = append(list, market.PairFunding{Time: at + p.late, Rate: dec(p.rates[at]), Period: p.period, Paid: true})
		}
	}
	return list, nil
}

func (p paying) KlinesMost() int { return 5 }

func (p paying) Klines(_ context.Context, _ market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error) {
	run := market.CandleRun{Interval: i, From: from, To: from}
	for range most {
		if run.To >= p.from {
			run.Candles = append(run.Candles, market.Candle{OpenTime: run.To, Amount: dec(p.amount)})
		}
		run.To = i.NextMs(run.To)
	}
	return run, nil
}

// reported is what an exchange tells of open interest.
type reported []market.PairInterest

func (l reported) Interests(context.Context, []market.Pair) ([]market.PairInterest, error) {
	return nil, nil
}
func (l reported) PastFundings(context.Context, market.Pair, int64, int64) ([]market.PairFunding, error) {
	return nil, nil
}
func (l reported) PastInterests(context.Context, market.Pair, int64, int64) ([]market.PairInterest, error) {
	return l, nil
}
func (l reported) PastRatios(context.Context, market.RatioKind, market.Pair, int64, int64) ([]market.PairRatio, error) {
	return nil, nil
}

// A checkpoint must not move before what was told of the past is written: a crash would lose
// it, as nobody asks for it again.
func TestThePastIsHeldUntilItIsWritten(t *testing.T) {
	t.Parallel()
	now := noon
	const pair = "btcswapusdt:binance"
	for name, c := range map[string]struct {
		p Projection
		b Batch
	}{
		"interest": {newInterests(), Batch{PastInterests: []PastInterest{{Key: "btc:stable", Interests: []market.PairInterest{{Pair: pair, Time: now.UnixMilli(), Value: dec(5)}}}}}},
		"alone":    {newInterests(), Batch{PastInterests: []PastInterest{{Interests: []market.PairInterest{{Pair: pair, Time: now.UnixMilli(), Value: dec(5)}}}}}},
		"funding":  {newFundings(), Batch{PairEvents: market.PairEvents{Fundings: []market.PairFunding{{Pair: pair, Time: now.UnixMilli(), Rate: dec(1), Paid: true}}}}},
		"rates":    {newFundings(), Batch{PastRates: []PastRate{{"btc", now.UnixMilli(), dec(1)}}}},
		"accounts": {newRatios(market.LongAccounts), Batch{PairEvents: market.PairEvents{Ratios: []market.PairRatio{{Pair: pair, Time: now.UnixMilli(), Value: dec(1)}}}}},
	} {
		c.p.Changes(now, false) // the first write
		m := newMemory()
		r := engine.NewReads()
		c.p.Prefetch(&c.b, r)
		r.Fill(nil, m.rows)
		must.Do(t, c.p.Apply(&c.b, r, now))
		if got := c.p.Changes(now.Add(time.Second), false); !got.Held || len(got.Fine) > 0 {
			t.Errorf("%s: held %t with %d rows written", name, got.Held, len(got.Fine))
		}
		if got := c.p.Changes(now.Add(2*time.Second), true); got.Held || len(got.Fine) == 0 {
			t.Errorf("%s: when all is settled it is held %t with %d rows written", name, got.Held, len(got.Fine))
		}
	}
}
