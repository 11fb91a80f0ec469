package main

import (
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/klines"
	"quotary/shared/data/listed"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// markets holds what the handlers read.
type markets struct {
	series  *store.Series
	tickers *store.View[tickers.View]
	open    *store.View[openinterest.View]
	marks   *store.View[contexts.Marks]
	coins   *listed.Coins
}

func newMarkets(series *store.Series, views *store.Views, clock func() time.Time) *markets {
	return &markets{series: series, tickers: tickers.Published.Open(views, clock), open: openinterest.Published.Open(views, clock), marks: contexts.MarksOnly.Open(views, clock), coins: listed.Open(views, clock)}
}

// all returns the last traded price of every coin that has traded, by coin.
func (m *markets) all(ctx context.Context, _ catalog.None) ([]catalog.Ticker, error) {
	v, err := m.tickers.Get(ctx)
	list := make([]catalog.Ticker, len(v.Tickers))
	for i, t := range v.Tickers {
		list[i] = catalog.Ticker{Coin: t.Coin, Price: t.Price}
	}
	return list, err
}

// one returns the last traded price of a coin.
func (m *markets) one(ctx context.Context, in catalog.TickerCoinIn) (catalog.Ticker, error) {
	v, err := m.tickers.Get(ctx)
	if err != nil {
		return catalog.Ticker{}, err
	}
	t, ok := v.Lookup(string(in.Coin))
	if !ok {
		return catalog.Ticker{}, api.BadParameter("unknown coin %s: it must be one that has traded, as GET /upgrade/v2/hl/tickers lists them", in.Coin)
	}
	return catalog.Ticker{Coin: t.Coin, Price: t.Price}, nil
}

// klines returns the newest klines in the span, oldest first.
func (m *markets) klines(ctx context.Context, in catalog.TakerKlinesIn) ([]catalog.TakerKline, error) {
	interval, err := market.ParseInterval(in.Interval)
	if err != nil {
		return nil, api.BadParameter("invalid interval: %v", err)
	}
	candles, err := klines.Newest(ctx, m.series, string(in.Coin), interval, moment(in.StartTime), moment(in.EndTime), int(in.Limit))
	if err != nil {
		return nil, err
	}
	list := make([]catalog.TakerKline, len(candles))
	for i := range candles {
		list[i] = takerKline(&candles[i])
	}
	return list, nil
}

// moment is the zero time, an open border, where the parameter is absent.
func moment(ms *catalog.Millis) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return ms.Time()
}

func takerKline(c *market.Candle) catalog.TakerKline {
	return catalog.TakerKline{
		OpenTime:    c.OpenTime,
		TC:          c.Trades,
		Size:        market.Text(c.Size),
		Amount:      market.Text(c.Amount),
		TCBuyer:     c.TradesBuyer,
		SizeBuyer:   market.Text(c.SizeBuyer),
		AmountBuyer: market.Text(c.AmountBuyer),
		Open:        market.Text(c.Open),
		High:        market.Text(c.High),
		Low:         market.Text(c.Low),
		Close:       market.Text(c.Close),
	}
}

// takerDelta sums up the trades of the last seconds of the window: from the
// start of the second that lies a window before now, the second that runs
// included. So a window of 1s holds between one and two seconds of trades. Of a coin that
// the venue does not have nothing is known.
func (m *markets) takerDelta(ctx context.Context, in catalog.TakerDeltaIn) (out catalog.TakerDeltaSum, err error) {
	now := api.Now(ctx)
	sum, err := klines.Sum(ctx, m.series, string(in.Coin), now.Add(-in.Interval.Duration()), now)
	if err != nil {
		return out, err
	}
	if sum.Trades == 0 {
		if absent, err := m.coins.Absent(ctx, string(in.Coin)); absent || err != nil {
			return out, err
		}
	}
	size, value := market.Text(buyersLead(sum.SizeBuyer, sum.Size)), market.Text(buyersLead(sum.AmountBuyer, sum.Amount))
	return catalog.TakerDeltaSum{SzDelta: &size, ValDelta: &value}, nil
}

// buyersLead is bought less sold, of what was bought and of all.
func buyersLead(bought, all market.Decimal) market.Decimal {
	return bought.Add(bought).Sub(all)
}
