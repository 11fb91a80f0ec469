// Package cointickers is the view of the price of every coin that a source of
// prices knows, in US dollars and in yuan.
//
// Figures are plain decimals as text. One that is not known is empty, never 0.
package cointickers

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "cointickers"

// MaxAge is for how long the figures of a coin are shown: a price that is older is
// none. It is kept until another coin's is newer by as much.
const MaxAge = 24 * time.Hour

// View is the state of all coins.
type View struct {
	Time    int64    `json:"time"`    // of the newest ticker, ms
	Tickers []Ticker `json:"tickers"` // by key
}

// Ticker is the figures of a coin. Yuan follow from US dollars by the rates that
// are in force at Time, and at the beginning of a change.
type Ticker struct {
	Key  string `json:"key"`
	Time int64  `json:"time"` // when the source made the figures, ms

	PriceUSD     string `json:"priceUsd"` // of one coin
	PriceCNY     string `json:"priceCny"`
	Degree24hUSD string `json:"degree24hUsd"` // change of the price in 24 hours, percent
	Degree24hCNY string `json:"degree24hCny"`
	Degree7dUSD  string `json:"degree7dUsd"` // change of the price in seven days, percent
	Degree7dCNY  string `json:"degree7dCny"`
	SupplyUSD    string `json:"supplyUsd"` // value of the circulating supply: price x supply
	SupplyCNY    string `json:"supplyCny"`
	Trade24hUSD  string `json:"trade24hUsd"` // turnover of 24 hours
	Trade24hCNY  string `json:"trade24hCny"`
	Vol24h       string `json:"vol24h"` // the turnover in coins: turnover / price
}

// Lookup returns the ticker of a coin; false for a coin without one.
func (v View) Lookup(key string) (Ticker, bool) {
	return dataset.Find(v.Tickers, key, func(t *Ticker) string { return t.Key })
}

// coinPlaces is how exact a number of coins is.
const coinPlaces = 8

// New returns the ticker of a coin by its figures in US dollars.
func New(m *market.CoinMarket, known rates.View) Ticker {
	t := Ticker{
		Key: m.Key, Time: m.Time, PriceUSD: m.Price, Degree24hUSD: m.Degree24h, Degree7dUSD: m.Degree7d,
		SupplyUSD: m.MarketCap, Trade24hUSD: m.Turnover24h, Vol24h: market.Quotient(m.Turnover24h, m.Price, coinPlaces),
	}
	t.Convert(known)
	return t
}

// Convert sets the figures in yuan to what the known rates make of those in US
// dollars; they are empty where a rate is not known. It reports whether one changed.
func (t *Ticker) Convert(known rates.View) bool {
	before := *t
	at := time.UnixMilli(t.Time)
	t.PriceCNY, t.SupplyCNY, t.Trade24hCNY, t.Degree24hCNY, t.Degree7dCNY = "", "", "", "", ""
	if now, ok := known.At(at); ok {
		t.PriceCNY, t.SupplyCNY, t.Trade24hCNY = now.Yuan(t.PriceUSD), now.Yuan(t.SupplyUSD), now.Yuan(t.Trade24hUSD)
		if day, ok := known.At(at.Add(-24 * time.Hour)); ok {
			t.Degree24hCNY = market.YuanDegree(t.Degree24hUSD, day, now)
		}
		if week, ok := known.At(at.Add(-7 * 24 * time.Hour)); ok {
			t.Degree7dCNY = market.YuanDegree(t.Degree7dUSD, week, now)
		}
	}
	return *t != before
}

// Compare orders tickers of a coin by their time; of the same time, by what they say in
// US dollars.
func (t *Ticker) Compare(u *Ticker) int {
	return cmp.Or(cmp.Compare(t.Time, u.Time), cmp.Compare(t.PriceUSD, u.PriceUSD), cmp.Compare(t.Degree24hUSD, u.Degree24hUSD),
		cmp.Compare(t.Degree7dUSD, u.Degree7dUSD), cmp.Compare(t.SupplyUSD, u.SupplyUSD), cmp.Compare(t.Trade24hUSD, u.Trade24hUSD))
}

// Published is how the view is stored. The source is asked for prices every few minutes.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Tickers, func(a, b Ticker) int { return cmp.Compare(a.Key, b.Key) })
}}
