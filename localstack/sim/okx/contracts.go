package okx

import (
	"net/http"
	"strconv"

	"quotary/localstack/sim/trading"
)

// contractPaths are the requests about swaps, and tickers of both types of instruments.
func (x *Exchange) contractPaths(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v5/market/tickers", x.rest(20, x.tickers))
	mux.HandleFunc("GET /api/v5/public/open-interest", x.rest(20, x.interests))
	mux.HandleFunc("GET /api/v5/public/funding-rate-history", x.rest(10, x.pastFunding))
	mux.HandleFunc("GET /api/v5/rubik/stat/contracts/open-interest-history", x.rest(10, x.pastInterest))
	ofCoin := func(r *http.Request) *trading.Market { return x.Market(r.URL.Query().Get("ccy") + "-USDT-SWAP") }
	ofSwap := func(r *http.Request) *trading.Market { return x.Market(r.URL.Query().Get("instId")) }
	for path, ratio := range map[string]pastRatio{
		"contracts/long-short-account-ratio":                      {ofCoin, 30 * day, func(m *trading.Market, at int64) string { return Ratio(m.Longs(at)) }},
		"contracts/long-short-account-ratio-contract-top-trader":  {ofSwap, 5 * day, func(m *trading.Market, at int64) string { return Ratio(m.TopLongs(at)) }},
		"contracts/long-short-position-ratio-contract-top-trader": {ofSwap, 5 * day, func(m *trading.Market, at int64) string { return Ratio(m.TopPositions(at)) }},
		"margin/loan-ratio": {ofCoin, 2 * day, func(m *trading.Market, at int64) string { return trading.Decimal(m.Loans(at), 2) }},
	} {
		mux.HandleFunc("GET /api/v5/rubik/stat/"+path, x.rest(5, func(r *http.Request) answer { return x.pastRatios(r, ratio) }))
	}
}

var (
	errType    = refusal("51000", "Parameter instType error")
	errUnknown = refusal("51001", "Instrument ID, Instrument ID code, or Spread ID doesn't exist.")
)

// of are the markets of the type that a request names.
func (x *Exchange) of(r *http.Request) (list []*trading.Market, ok bool) {
	kind := r.URL.Query().Get("instType")
	for _, m := range x.Markets {
		if m.Swap == (kind == "SWAP") {
			list = append(list, m)
		}
	}
	return list, kind == "SPOT" || kind == "SWAP"
}

func (x *Exchange) tickers(r *http.Request) answer {
	markets, ok := x.of(r)
	if !ok {
		return errType
	}
	now := x.clock().UnixMilli()
	list := []any{}
	for _, m := range markets {
		d := m.Day(now)
		volCcy := baseCoins(m, d.Size, d.Coins)
		if !m.Swap {
			volCcy = m.Amount(d.Quote)
		}
		list = append(list, map[string]string{
			"instId": m.Symbol, "last": m.Price(d.Last), "open24h": m.Price(d.First), "high24h": m.Price(d.High), "low24h": m.Price(d.Low),
			"vol24h": size(m, d.Size), "volCcy24h": volCcy, "ts": text(now),
		})
	}
	return answer{"0", "", list}
}

// interestOf is the open interest of a swap at a time: contracts, coins and dollars.
func interestOf(m *trading.Market, at int64) (contracts, coins, dollars string) {
	lots, mark := m.Interest(at), m.Mark(at)
	return size(m, lots), baseCoins(m, lots, m.CoinsOf(lots, mark)), quoteCoins(m, lots, lots*mark)
}

func (x *Exchange) interests(r *http.Request) answer {
	markets, ok := x.of(r)
	if !ok || r.URL.Query().Get("instType") != "SWAP" {
		return errType
	}
	now := x.clock().UnixMilli()
	list := []any{}
	for _, m := range markets {
		contracts, coins, dollars := interestOf(m, now)
		list = append(list, map[string]string{"instType": "SWAP", "instId": m.Symbol, "oi": contracts, "oiCcy": coins, "oiUsd": dollars, "ts": text(now)})
	}
	return answer{"0", "", list}
}

// number is a parameter of a request.
func number(r *http.Request, name string, fallback int64) int64 {
	if n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64); err == nil {
		return n
	}
	return fallback
}

const pastMost = 100 // rows of an answer about the past

// pastFunding are rates that were paid, newest first: of the last three months.
func (x *Exchange) pastFunding(r *http.Request) answer {
	m := x.Market(r.URL.Query().Get("instId"))
	if m == nil || !m.Swap {
		return errUnknown
	}
	now := x.clock().UnixMilli()
	oldest := max(x.since, now-90*day, number(r, "before", 0)+1)
	limit := min(int(number(r, "limit", pastMost)), pastMost)
	list := []any{}
	for at := min(now, number(r, "after", now+1)-1) / m.Period() * m.Period(); at >= oldest && len(list) < limit; at -= m.Period() {
		list = append(list, map[string]string{"instId": m.Symbol, "instType": "SWAP", "fundingTime": text(at), "fundingRate": trading.Rate(m.Funding(at)), "realizedRate": trading.Rate(m.Paid(at))})
	}
	return answer{"0", "", list}
}

// pastRows are rows of every five minutes, newest first.
func (x *Exchange) pastRows(r *http.Request, back int64, row func(at int64) []string) answer {
	const step = 5 * minute
	if r.URL.Query().Get("period") != "5m" {
		return refusal("51000", "Parameter period error")
	}
	now := x.clock().UnixMilli()
	oldest := max(x.since, now-back, number(r, "begin", 0))
	limit := min(int(number(r, "limit", pastMost)), pastMost)
	list := [][]string{}
	for at := min(now, number(r, "end", now)) / step * step; at >= oldest && len(list) < limit; at -= step {
		list = append(list, row(at))
	}
	return answer{"0", "", list}
}

// pastInterest reaches back a few days.
func (x *Exchange) pastInterest(r *http.Request) answer {
	m := x.Market(r.URL.Query().Get("instId"))
	if m == nil || !m.Swap {
		return errUnknown
	}
	return x.pastRows(r, 3*day, func(at int64) []string {
		contracts, coins, dollars := interestOf(m, at)
		return []string{text(at), contracts, coins, dollars}
	})
}

// pastRatio is a kind of ratios: of a coin those of its linear swap.
type pastRatio struct {
	of    func(*http.Request) *trading.Market
	back  int64 // how far it reaches, ms
	value func(m *trading.Market, at int64) string
}

func (x *Exchange) pastRatios(r *http.Request, ratio pastRatio) answer {
	m := ratio.of(r)
	if m == nil || !m.Swap {
		return errUnknown
	}
	return x.pastRows(r, ratio.back, func(at int64) []string { return []string{text(at), ratio.value(m, at)} })
}

// Ratio is how many are long for one that is short, as the exchange writes it, where so many of
// ten thousand are.
func Ratio(longs int64) string { return trading.Decimal(longs*10_000/(10_000-longs), 4) }

// Channels of swaps besides their trades.
const (
	fundingChannel     = "funding-rate"
	liquidationChannel = "liquidation-orders"

	fundingEvery = 5 * 1000 // ms; the exchange takes half a minute and more
)

// fundings are the rates that are pushed between two times, ms.
func fundings(m *trading.Market, from, to int64) (list []any) {
	for at := (from + fundingEvery - 1) / fundingEvery * fundingEvery; at < to; at += fundingEvery {
		list = append(list, map[string]string{
			"instId": m.Symbol, "instType": "SWAP", "method": "current_period", "fundingRate": trading.Rate(m.Funding(at)),
			"prevFundingTime": text(m.Due(at) - m.Period()), "fundingTime": text(m.Due(at)), "nextFundingTime": text(m.Due(at) + m.Period()), "ts": text(at),
		})
	}
	return list
}

// liquidations are the orders of all swaps that closed positions between two times, ms.
func (x *Exchange) liquidations(from, to int64) (list []any) {
	for _, m := range x.Markets {
		if !m.Swap {
			continue
		}
		for _, l := range m.Liquidations(from, to) {
			side, position := "buy", "short"
			if l.Long {
				side, position = "sell", "long"
			}
			list = append(list, map[string]any{
				"instId": m.Symbol, "instType": "SWAP", "instFamily": m.Base + "-" + m.Quote, "uly": m.Base + "-" + m.Quote,
				"details": []any{map[string]string{"side": side, "posSide": position, "bkPx": m.Price(l.Price), "sz": size(m, l.Size), "bkLoss": "0", "ccy": "", "ts": text(l.Time)}},
			})
		}
	}
	return list
}
