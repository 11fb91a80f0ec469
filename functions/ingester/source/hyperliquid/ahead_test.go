package hyperliquid

import (
	"context"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// TestNothingOfTheFutureIsEmitted: of each kind of event that has a time of the venue's,
// the one that is ahead of the clock is counted and left out, and an anchor is refused.
func TestNothingOfTheFutureIsEmitted(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_795_000_000_000)
	near, far := now.Add(aheadMost).UnixMilli(), now.Add(aheadMost).UnixMilli()+1
	both := func(ms int64) market.Events {
		return market.Events{
			Fills: []market.Fill{{Time: ms}}, Trades: []market.Trade{{Time: ms}}, Books: []market.Book{{Time: ms}}, BBOs: []market.BBO{{Time: ms}},
			Funding: []market.Funding{{Time: ms}}, Orders: []market.OrderStatus{{Time: ms}}, Payments: []market.FundingPayment{{Time: ms}}, Ledgers: []market.Ledger{{Time: ms}},
			Anchors: []market.Anchor{
				{Address: "0x1", SpotTime: ms}, {Address: "0x2", Dexes: []market.AccountState{{Time: ms}}}, {Address: "0x3", Orders: []market.OrderStatus{{Time: ms}}},
			},
		}
	}
	const kinds, anchors = 8, 3
	var stats Stats
	var got market.Events
	sink := func(_ context.Context, d Delivery) error {
		got.Merge(&d.Events)
		return nil
	}
	for _, ms := range []int64{near, far} {
		must.Do(t, emit(t.Context(), now, &Delivery{Events: both(ms)}, &stats, quiet, sink))
	}
	if n := got.Len(); n != kinds+2*anchors || stats.Malformed.Load() != kinds+anchors || stats.LastEvent.Load() != near {
		t.Errorf("%d events, %d malformed, the newest of %d", n, stats.Malformed.Load(), stats.LastEvent.Load())
	}
	for i, a := range got.Anchors {
		if refused := a.SpotTime == 0 && len(a.Dexes)+len(a.Orders) == 0; refused != (i >= anchors) || a.Address == "" {
			t.Errorf("anchor %d is %+v", i, a)
		}
	}
}

// TestAnAnswerOfTheFutureIsNoAnchor: what is folded of an account would wait for its time.
func TestAnAnswerOfTheFutureIsNoAnchor(t *testing.T) {
	t.Parallel()
	v := infoVenue{answer: accountAnswers(map[string]string{
		"clearinghouseState": `{"marginSummary":{"accountValue":"1.0"},"crossMarginSummary":{"accountValue":"1.0"},"assetPositions":[],"time":9999999999999}`,
	})}
	a := &Anchors{Info: v.serve(t), Stats: new(Stats), Log: quiet, Poll: time.Millisecond, Wanted: wantAnchors(WantedAnchor{Address: askedAccount, Every: time.Hour})}
	if got := followAnchors(t, a, 1); got[0].Address != askedAccount || len(got[0].Dexes) > 0 || a.Stats.Malformed.Load() == 0 {
		t.Errorf("it is anchored by %+v", got[1])
	}
}
