package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/klines"
)

// tickersPeriod is how old the view may be in memory before S3 is asked again;
// the ingester publishes it at most as often.
const tickersPeriod = time.Second

// markets holds what the handlers read.
type markets struct {
	series  *store.Series
	tickers *store.View[tickers]
	open    *store.View[openInterest]
}

func newMarkets(series *store.Series, views *store.Views, clock func() time.Time) *markets {
	return &markets{
		series:  series,
		tickers: store.NewView(views, store.TickersView, tickersPeriod, clock, decodeTickers),
		open:    store.NewView(views, store.OpenInterestView, openPeriod, clock, decodeOpenInterest),
	}
}

// all returns the last traded price of every coin that has traded, by coin.
func (m *markets) all(ctx context.Context, _ catalog.None) ([]catalog.Ticker, error) {
	t, err := m.tickers.Get(ctx)
	if errors.Is(err, store.ErrNoView) {
		return nil, nil // no coin has traded yet
	}
	return t.list, err
}

// one returns the last traded price of a coin.
func (m *markets) one(ctx context.Context, in catalog.TickerCoinIn) (catalog.Ticker, error) {
	t, err := m.tickers.Get(ctx)
	if err != nil && !errors.Is(err, store.ErrNoView) {
		return catalog.Ticker{}, err
	}
	ticker, ok := t.byCoin[string(in.Coin)]
	if !ok {
		return catalog.Ticker{}, api.BadRequest("unknown coin %s: it must be one that has traded, as GET /upgrade/v2/hl/tickers lists them", in.Coin)
	}
	return ticker, nil
}

// tickers is the decoded view. It is shared between requests.
type tickers struct {
	list   []catalog.Ticker // by coin
	byCoin map[string]catalog.Ticker
}

func decodeTickers(body []byte) (tickers, error) {
	var view struct {
		Tickers []catalog.Ticker `json:"tickers"`
	}
	if err := json.Unmarshal(body, &view); err != nil {
		return tickers{}, err
	}
	t := tickers{list: view.Tickers, byCoin: make(map[string]catalog.Ticker, len(view.Tickers))}
	for _, ticker := range view.Tickers {
		t.byCoin[ticker.Coin] = ticker
	}
	return t, nil
}

// klines returns the newest klines in the span, oldest first.
func (m *markets) klines(ctx context.Context, in catalog.TakerKlinesIn) ([]catalog.TakerKline, error) {
	interval, err := market.ParseInterval(in.Interval)
	if err != nil {
		return nil, api.BadRequest("invalid interval: %v", err)
	}
	candles, err := klines.Newest(ctx, m.series, string(in.Coin), interval, moment(in.StartTime), moment(in.EndTime), int(in.Limit))
	if err != nil {
		return nil, err
	}
	out := make([]catalog.TakerKline, len(candles))
	for i := range candles {
		out[i] = wire(&candles[i])
	}
	return out, nil
}

// moment is the zero time, an open border, where the parameter is absent.
func moment(ms *catalog.Millis) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return ms.Time()
}

func wire(c *market.Candle) catalog.TakerKline {
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
