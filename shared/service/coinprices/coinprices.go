// Package coinprices is what coins cost now: as they trade on a followed exchange, else as the
// source of prices says; and which pairs of exchanges are of a coin.
//
// A coin is priced by its pair with USDT on the first of Binance, OKX and Bybit where that pair is
// followed and was priced in the last ten minutes: its last price and its change of 24 hours, where
// a stablecoin counts as one US dollar. All other figures, the change of seven days among them, are
// the source's.
//
// Exchanges name coins by short names, which many coins share: a short name is that of the coin
// that is listed first. Where the source says a price of it that is less than half of the pair's or
// more than twice as much, the pairs are of another coin, and none of them counts.
package coinprices

import (
	"context"
	"strings"
	"sync"
	"time"

	"quotary/shared/api"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Prices reads the views.
type Prices struct {
	coins   *store.View[coins.View]
	tickers *store.View[cointickers.View]
	pairs   *store.View[pairs.View]
	trades  *store.View[pairtickers.View]
	perps   *store.View[tickers.View]
	rates   *store.View[rates.View]

	mu    sync.Mutex
	index *index // of the last versions
}

// Open returns prices of what is published.
func Open(views *store.Views, clock func() time.Time) *Prices {
	return &Prices{
		coins: coins.Published.Open(views, clock), tickers: cointickers.Published.Open(views, clock), pairs: pairs.Published.Open(views, clock),
		trades: pairtickers.Published.Open(views, clock), perps: tickers.Published.Open(views, clock), rates: rates.Published.Open(views, clock),
	}
}

// index finds coins by key, and pairs by short name.
type index struct {
	coins []coins.Coin // of the view
	pairs []pairs.Pair
	perps []tickers.Ticker

	byKey  map[string]int      // place in coins
	owners map[string]int      // of short names, in lower case: the first coin that has one
	ofCoin map[string][]listed // pairs by short name, by key
	texts  []string            // see [Snapshot.Named]
}

// listed is a pair that trades.
type listed struct {
	market.Pair
	followed bool
}

// of reports whether the index is that of these versions: each version of a view has slices of
// its own.
func (x *index) of(known []coins.Coin, trading []pairs.Pair, perps []tickers.Ticker) bool {
	return x != nil && same(x.coins, known) && same(x.pairs, trading) && same(x.perps, perps)
}

func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func newIndex(known []coins.Coin, trading []pairs.Pair, perps []tickers.Ticker) *index {
	x := &index{coins: known, pairs: trading, perps: perps, byKey: map[string]int{}, owners: map[string]int{}, ofCoin: map[string][]listed{}, texts: make([]string, len(known))}
	for i := range known {
		c := &known[i]
		x.byKey[c.Key] = i
		if short := market.CoinOfBase(c.Show()); c.Listed() {
			if _, taken := x.owners[short]; !taken {
				x.owners[short] = i
			}
			x.texts[i] = "\n" + strings.ToLower(c.Show()+"\n"+c.ENName()+"\n"+c.CNName()+"\n"+c.Key) + "\n"
		}
	}
	for i := range trading {
		p := &trading[i]
		x.ofCoin[p.Coin()] = append(x.ofCoin[p.Coin()], listed{p.Pair, p.Followed})
	}
	for i := range perps {
		if p, ok := pairs.Perp(perps[i].Coin); ok {
			x.ofCoin[p.Coin()] = append(x.ofCoin[p.Coin()], listed{p, true})
		}
	}
	return x
}

// Snapshot is what coins cost at a moment.
type Snapshot struct {
	*index
	Coins   coins.View
	now     time.Time
	tickers cointickers.View
	trades  pairtickers.View
	rates   rates.View
}

// Now returns what coins cost now. What is not published yet is empty; the error is that of the
// store.
func (p *Prices) Now(ctx context.Context) (*Snapshot, error) {
	s := &Snapshot{now: api.Now(ctx)}
	var (
		trading pairs.View
		perps   tickers.View
		err     error
	)
	for _, read := range []func() error{
		func() error { s.Coins, err = store.OrZero(p.coins.Get(ctx)); return err },
		func() error { s.tickers, err = store.OrZero(p.tickers.Get(ctx)); return err },
		func() error { s.trades, err = store.OrZero(p.trades.Get(ctx)); return err },
		func() error { s.rates, err = store.OrZero(p.rates.Get(ctx)); return err },
		func() error { trading, err = store.OrZero(p.pairs.Get(ctx)); return err },
		func() error { perps, err = store.OrZero(p.perps.Get(ctx)); return err },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.index.of(s.Coins.Coins, trading.Pairs, perps.Tickers) {
		p.index = newIndex(s.Coins.Coins, trading.Pairs, perps.Tickers)
	}
	s.index = p.index
	return s, nil
}

// Coin returns a coin by its key, exactly as it is written; false for one that is not known.
func (s *Snapshot) Coin(key string) (*coins.Coin, bool) {
	i, ok := s.byKey[key]
	if !ok {
		return nil, false
	}
	return &s.coins[i], true
}

// tradedFor is how old the ticker of a pair may be.
const tradedFor = 10 * time.Minute

// traded is the ticker of the pair by which a coin is priced. Another is set where a pair is of
// another coin of the same short name.
func (s *Snapshot) traded(c *coins.Coin) (t pairtickers.Ticker, ok, another bool) {
	short := market.CoinOfBase(c.Show())
	if i, owned := s.owners[short]; !owned || s.coins[i].Key != c.Key {
		return t, false, true
	}
	for _, platform := range [...]string{"binance", "okex", "bybit"} {
		key := market.PairKey(short, "usdt", platform, false)
		if !s.follows(short, key) {
			continue
		}
		t, ok = s.trades.Lookup(key)
		if ok = ok && t.Last.IsPos() && s.now.Sub(time.UnixMilli(t.Time)) <= tradedFor; ok {
			break
		}
	}
	if !ok {
		return pairtickers.Ticker{}, false, false
	}
	said, _ := s.said(c.Key)
	if price, err := market.ParseDecimal(said.PriceUSD); err == nil && price.IsPos() {
		two := market.DecimalFromInt(2)
		another = price.GreaterThan(t.Last.Mul(two)) || t.Last.GreaterThan(price.Mul(two))
	}
	return t, !another, another
}

func (s *Snapshot) follows(short, key string) bool {
	for _, p := range s.ofCoin[short] {
		if p.Key == key {
			return p.followed
		}
	}
	return false
}

// said is what the source of prices says of a coin; false where it is older than a day.
func (s *Snapshot) said(key string) (cointickers.Ticker, bool) {
	t, ok := s.tickers.Lookup(key)
	if !ok || t.Time < s.now.Add(-cointickers.MaxAge).UnixMilli() {
		return cointickers.Ticker{}, false
	}
	return t, true
}

// degreePlaces are those of a change in percent.
const degreePlaces = 4

// Ticker returns what a coin costs; false for one whose price is not known.
func (s *Snapshot) Ticker(key string) (cointickers.Ticker, bool) {
	t, ok := s.said(key)
	c, found := s.Coin(key)
	if !found {
		return t, ok
	}
	pair, priced, _ := s.traded(c)
	if !priced {
		return t, ok
	}
	t.Key, t.Time, t.PriceUSD = key, pair.Time, pair.Last.String()
	if pair.Open.IsPos() {
		change := pair.Last.Sub(pair.Open).Mul(market.DecimalFromInt(100))
		t.Degree24hUSD = market.Quotient(change.String(), pair.Open.String(), degreePlaces)
	}
	t.PriceCNY, t.Degree24hCNY = "", ""
	at := time.UnixMilli(t.Time)
	if now, ok := s.rates.At(at); ok {
		t.PriceCNY = now.Yuan(t.PriceUSD)
		if day, ok := s.rates.At(at.Add(-24 * time.Hour)); ok {
			t.Degree24hCNY = market.YuanDegree(t.Degree24hUSD, day, now)
		}
	}
	return t, true
}

// Pairs are those of a coin, on centralised exchanges by key, then on the perpetual one: none of
// one that shares its short name with a coin that is listed before it.
func (s *Snapshot) Pairs(c *coins.Coin) []market.Pair {
	if _, _, another := s.traded(c); another {
		return nil
	}
	all := s.ofCoin[market.CoinOfBase(c.Show())]
	list := make([]market.Pair, len(all))
	for i := range all {
		list[i] = all[i].Pair
	}
	return list
}

// PricedBy is the key of the pair by which a coin is priced, empty where it is none.
func (s *Snapshot) PricedBy(c *coins.Coin) string {
	t, ok, _ := s.traded(c)
	if !ok {
		return ""
	}
	return t.Pair
}

// Named returns the listed coins whose short name, names or key hold a text, in any letter case:
// first those of which one is the text, then those of which one begins with it, each by rank.
func (s *Snapshot) Named(text string) []*coins.Coin {
	text = strings.ToLower(strings.TrimSpace(strings.ReplaceAll(text, "\n", " ")))
	var groups [3][]*coins.Coin
	for i, names := range s.texts {
		c := &s.coins[i]
		switch {
		case !strings.Contains(names, text):
		case !c.Listed():
		case strings.Contains(names, "\n"+text+"\n"):
			groups[0] = append(groups[0], c)
		case strings.Contains(names, "\n"+text):
			groups[1] = append(groups[1], c)
		default:
			groups[2] = append(groups[2], c)
		}
	}
	return append(append(groups[0], groups[1]...), groups[2]...)
}
