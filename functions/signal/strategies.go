package main

import (
	"context"
	"hash/fnv"
	"strconv"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/pairs"
	"quotary/shared/data/strategysignals"
	"quotary/shared/market"
	"quotary/shared/store"
)

// signalFields are the names of a row's values.
var signalFields = []string{"id", "signal_time", "signal_type", "side", "capital_rate", "history_win_rate", "advise_win_rate", "advise_loss_rate", "state", "price", "pair"}

// signalsOfPage is how many signals a page has, but for those of the hour of its last one.
const signalsOfPage = 100

// strategies returns a page of a strategy's signals, newest first.
func (k *keeper) strategies(ctx context.Context, in catalog.StrategySignalsIn) (out catalog.StrategySignalList, err error) {
	out = catalog.StrategySignalList{Mapping: signalFields, List: [][]string{}, SupportList: []catalog.SupportedSignal{}}
	listed, err := store.OrZero(k.pairs.Get(ctx))
	if err != nil {
		return out, err
	}
	supported := map[catalog.SupportedSignal]bool{} // of hundreds of coins there are thousands
	for i := range listed.Pairs {
		p := &listed.Pairs[i]
		category := "spot"
		if p.Swap {
			category = "futures"
		}
		for _, s := range market.Strategies {
			one := catalog.SupportedSignal{Strategy: s.Key, CoinType: p.Coin(), Category: category}
			if p.Followed && pairs.HasStrategy(s.Key, &p.Pair) && !supported[one] {
				supported[one] = true
				out.SupportList = append(out.SupportList, one)
			}
		}
	}
	coin := ""
	if in.CoinType != "" {
		known, err := store.OrZero(k.coins.Get(ctx))
		if err != nil {
			return out, err
		}
		coin = known.ShortName(string(in.CoinType))
	}
	var until time.Time
	if in.LatestTime != nil {
		until = in.LatestTime.Time().Add(-time.Millisecond)
	}
	var last int64
	for s, err := range strategysignals.Newest(ctx, k.log, in.SignalKey, coin, until, 0) {
		if err != nil {
			return out, err
		}
		if len(out.List) >= signalsOfPage && s.Time != last {
			out.LatestTime = &last
			break
		}
		last = s.Time
		out.List = append(out.List, signalRow(&s))
	}
	return out, nil
}

func signalRow(s *strategysignals.Signal) []string {
	id := fnv.New64a()
	_, _ = id.Write([]byte(s.Strategy + "|" + s.Pair + "|" + strconv.FormatInt(s.Time, 10)))
	side, won, capital := "sell", "", ""
	if s.Side == market.Buy {
		side = "buy"
	}
	if w, c, ok := s.Rates(); ok {
		won, capital = w.String(), c.String()
	}
	of := market.StrategyOf(s.Strategy)
	return []string{
		strconv.FormatUint(id.Sum64()>>11, 10), strconv.FormatInt(s.Time, 10), s.Strategy, side, capital, won, of.WinRate.String(), of.LossRate.String(),
		strconv.Itoa(int(s.State)), s.Px.String(), s.Pair,
	}
}
