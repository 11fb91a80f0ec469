package content

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quotary/functions/ingester/content/marketflash"
	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/catalog"
	"quotary/shared/data/contracts"
	"quotary/shared/data/klines"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue"
)

// markets is the source of the flashes that markets make. It looks at the views of the
// domains of exchanges and of perpetuals; where nobody runs them, there are none, and nothing
// is said.
type markets struct {
	views  *store.Views
	series *store.Series
	stats  *source.Stats
	config Config
	now    func() time.Time

	tickers        *store.View[pairtickers.View]
	pairs          *store.View[pairs.View]
	liquidated     *store.View[pairliquidations.View]
	contracts      *store.View[contracts.View]
	perps          *store.View[market.Contexts]
	perpLiquidated *store.View[pairliquidations.View]
	whales         *store.View[whales.Events]

	began   time.Time
	memory  marketflash.Memory
	days    map[string][]market.Candle
	daysAt  time.Time // when they were read
	storeAt time.Time // when the memory was delivered last
	spoken  bool      // something was known of a market then
}

const (
	marketEvery = 10 * time.Second // between two looks
	daysEvery   = 10 * time.Minute // between two readings of daily K-lines
	memoryEvery = 5 * time.Minute  // between two positions without a flash
	awaitSpot   = 10 * time.Minute // how long prices of exchanges are waited for that are followed
	daysRead    = 31               // K-lines of a pair, the running one among them
)

// source is the engine's.
func (c Config) markets() engine.Source[*Batch] {
	m := &markets{views: c.Stores.Views, series: c.Stores.Series, stats: new(source.Stats), config: c, now: time.Now}
	s := engine.Source[*Batch]{Name: "markets", Stats: m.stats, Follow: m.follow}
	if c.Exchanges || c.Venue {
		s.Brings = catalog.AllOf(catalog.ContentFlashes)
	}
	return s
}

// follow emits flashes until ctx ends or the sink fails.
func (m *markets) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	if err := from.Decode(&m.memory); err != nil {
		return err
	}
	m.began = m.now()
	m.tickers, m.pairs = pairtickers.Published.Open(m.views, m.now), pairs.Published.Open(m.views, m.now)
	m.liquidated, m.contracts = pairliquidations.Published.Open(m.views, m.now), contracts.Published.Open(m.views, m.now)
	m.perps, m.perpLiquidated = venue.PerpContexts.Open(m.views, m.now), pairliquidations.OfPerps.Open(m.views, m.now)
	m.whales = whales.PublishedEvents.Open(m.views, m.now)
	return source.Poll(ctx, marketEvery, m.config.Logger.With("source", "markets"), "the state of markets", func(ctx context.Context) error {
		return m.look(ctx, sink)
	})
}

// look writes what is to be said of the markets now.
func (m *markets) look(ctx context.Context, sink engine.Sink[*Batch]) error {
	s, err := m.snapshot(ctx)
	if err != nil {
		m.stats.Malformed.Add(1)
		return err
	}
	b := &Batch{Flashes: m.memory.Flashes(s)}
	spoken := len(s.Tickers.Tickers)+len(s.Perps.Coins) > 0 // where nothing is known of a market, nothing is said of it
	if len(b.Flashes) == 0 && s.Now.Sub(m.storeAt) < memoryEvery && m.spoken == spoken {
		return nil
	}
	m.spoken = spoken
	m.storeAt = s.Now
	m.stats.Lines.Add(int64(len(b.Flashes)))
	m.stats.Seen(s.Now, s.Now.UnixMilli())
	position, err := engine.PositionOf(&m.memory)
	if err != nil {
		return err
	}
	if err := sink(ctx, engine.Delivery[*Batch]{Batch: b, Position: position, Spoken: spoken}); err != nil {
		return source.OfSink(err)
	}
	return nil
}

func (m *markets) snapshot(ctx context.Context) (s marketflash.Snapshot, err error) {
	s.Now, s.Began = m.now(), m.began
	var errs [7]error
	s.Tickers, errs[0] = store.OrZero(m.tickers.Get(ctx))
	s.Pairs, errs[1] = store.OrZero(m.pairs.Get(ctx))
	s.Liquidations, errs[2] = store.OrZero(m.liquidated.Get(ctx))
	s.Contracts, errs[3] = store.OrZero(m.contracts.Get(ctx))
	s.Perps, errs[4] = store.OrZero(m.perps.Get(ctx))
	s.PerpLiquidations, errs[5] = store.OrZero(m.perpLiquidated.Get(ctx))
	s.Whales, errs[6] = store.OrZero(m.whales.Get(ctx))
	if err := errors.Join(errs[:]...); err != nil {
		return s, err
	}
	s.AwaitSpot = m.config.Exchanges && len(s.Tickers.Tickers) == 0 && s.Now.Sub(m.began) < awaitSpot
	if s.Now.Sub(m.daysAt) >= daysEvery {
		days, err := m.readDays(ctx, s)
		if err != nil {
			return s, err
		}
		m.days, m.daysAt = days, s.Now
	}
	s.Days = m.days
	return s, nil
}

// readDays reads the daily K-lines of followed spot pairs and of perpetuals that have ended.
func (m *markets) readDays(ctx context.Context, s marketflash.Snapshot) (map[string][]market.Candle, error) {
	all := map[string][]market.Candle{}
	day, err := market.NewPeriod(86_400, market.OpenBeijing8)
	if err != nil {
		return nil, err
	}
	today := s.Now.UTC().Truncate(24 * time.Hour)
	for i := range s.Pairs.Pairs {
		p := &s.Pairs.Pairs[i]
		if !p.Followed || p.Swap {
			continue
		}
		list, err := pairklines.Newest(ctx, m.series, p.Key, day, s.Now, daysRead)
		if err != nil {
			return nil, fmt.Errorf("read daily K-lines of %s: %w", p.Key, err)
		}
		for len(list) > 0 && list[len(list)-1].OpenTime >= today.UnixMilli() {
			list = list[:len(list)-1]
		}
		all[p.Key] = list
	}
	for i := range s.Perps.Coins {
		coin := s.Perps.Coins[i].Coin
		list, err := klines.Newest(ctx, m.series, coin, market.Day1, time.Time{}, today.Add(-time.Millisecond), daysRead-1)
		if err != nil {
			return nil, fmt.Errorf("read daily K-lines of the perpetual %s: %w", coin, err)
		}
		all[marketflash.PerpKey(coin)] = list
	}
	return all, nil
}
