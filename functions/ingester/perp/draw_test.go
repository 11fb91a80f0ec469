package perp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/data/klines"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
)

const base = 1773532740_000 // a minute before midnight, 2026-03-14 UTC, a Saturday

// someFills draws the pairs of fills of some trades, several of one order and
// ms among them.
func someFills(t *rapid.T) []market.Fill {
	var fills []market.Fill
	for i := range rapid.IntRange(1, 40).Draw(t, "trades") {
		at := base + int64(i)*137
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0, 1, 2:
			at = base + int64(rapid.IntRange(0, 3).Draw(t, "same"))
		case 3:
			at += int64(rapid.IntRange(1, 9).Draw(t, "hours")) * 3_500_000
		case 4:
			at -= int64(rapid.IntRange(1, 90).Draw(t, "minutes")) * 59_000
		}
		f := market.Fill{
			Address: "0x" + fmt.Sprintf("%040d", i%3), Coin: rapid.SampledFrom([]string{"BTC", "xyz:GOLD", "@107"}).Draw(t, "coin"),
			Px: strconv.Itoa(rapid.IntRange(1, 4).Draw(t, "px")) + ".25", Sz: strconv.Itoa(rapid.IntRange(1, 5).Draw(t, "sz")) + ".5",
			Side: market.Buy, Time: at, StartPosition: strconv.Itoa(i) + ".0", ClosedPnl: "0.0", Fee: "0.1", FeeToken: "USDC", Dir: "Buy", Hash: "0x0", Oid: 7, Tid: int64(1000 + i), Crossed: rapid.Bool().Draw(t, "buyer takes"),
			Seq: int64(i)*1_000_000 + 2,
		}
		g := f
		g.Address, g.Side, g.Crossed, g.Oid, g.Seq = "0x"+fmt.Sprintf("%040d", 9), market.Sell, !f.Crossed, 8, f.Seq+1
		fills = append(fills, f, g)
	}
	return fills
}

// drawFills has one trade a batch.
func drawFills(t *rapid.T) []*Batch {
	fills := someFills(t)
	var all []*Batch
	for i := 0; i < len(fills); i += 2 {
		all = append(all, &Batch{Events: market.Events{Fills: fills[i : i+2]}})
	}
	return all
}

// asPublicTrades is a batch as a source without blocks and accounts emits it.
func asPublicTrades(b *Batch) *Batch {
	trades := market.AppendTrades(nil, b.Fills)
	for i := range trades {
		trades[i].Seq = 0
	}
	return &Batch{Events: market.Events{Trades: trades}}
}

func fillsOf(batches []*Batch) (fills []market.Fill) {
	for _, b := range batches {
		fills = append(fills, b.Fills...)
	}
	return fills
}

func klinesOf(batches []*Batch) map[store.SeriesAt]store.Point {
	candles := map[store.SeriesAt]*market.Candle{}
	for _, tr := range market.AppendTrades(nil, fillsOf(batches)) {
		for _, i := range market.KlineTiers {
			key := klines.At(tr.Coin, i, i.StartMs(tr.Time))
			if candles[key] == nil {
				candles[key] = &market.Candle{OpenTime: i.StartMs(tr.Time)}
			}
			candles[key].Add(&tr)
		}
	}
	rows := map[store.SeriesAt]store.Point{}
	for key, c := range candles {
		rows[key] = store.Point{Time: key.Time, Body: klines.Append(nil, c)}
	}
	return rows
}

func topFillsOf(batches []*Batch) map[store.SeriesAt]store.Point {
	tops := map[store.SeriesAt]*market.Top{}
	for _, f := range fillsOf(batches) {
		for _, i := range market.TopTiers {
			key := topfills.At(f.Coin, i, i.StartMs(f.Time))
			if tops[key] == nil {
				tops[key] = &market.Top{}
			}
			tops[key].Add(f.Rank(), topfills.Limit(i))
		}
	}
	rows := map[store.SeriesAt]store.Point{}
	for key, top := range tops {
		rows[key] = store.Point{Time: key.Time, Body: topfills.Append(nil, *top)}
	}
	return rows
}

// moments are times at which a source may say something, each once.
func moments(t *rapid.T) []int64 {
	return rapid.SliceOfNDistinct(rapid.Int64Range(0, 200), 1, 12, rapid.ID).Draw(t, "seconds")
}

func drawMids(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		b := NewBatch()
		for _, dex := range []string{"", "xyz"} {
			b.Mids = append(b.Mids, market.Mids{Dex: dex, Time: base + 1000*s, Px: map[string]string{"BTC": fmt.Sprint(s/2) + ".5"}})
		}
		all = append(all, b)
	}
	return all
}

func drawMeta(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		text := json.RawMessage(fmt.Sprintf(`{"universe":[{"name":"BTC","maxLeverage":%d}]}`, s))
		all = append(all, &Batch{Events: market.Events{Meta: &market.Meta{Time: base + 1000*s, Perps: map[string]json.RawMessage{"": text}, Spot: text}}})
	}
	return all
}

func drawContexts(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		at := time.UnixMilli(base + 1000*s)
		all = append(all, &Batch{Events: market.Events{Contexts: []market.Contexts{
			contextsOf(at, "", "BTC", fmt.Sprint(s)+".5", "0.00001"), contextsOf(at, "xyz", "xyz:GOLD", fmt.Sprint(2*s)+".5", "0.0")}}})
	}
	return all
}

// drawFunding has what the venue paid in every hour, and of some of them what a
// node said before.
func drawFunding(t *rapid.T) (all []*Batch) {
	for hour := range rapid.Int64Range(1, 6).Draw(t, "hours") {
		for _, coin := range []string{"BTC", "xyz:GOLD"} {
			f := market.Funding{Coin: coin, Rate: "0.0000" + fmt.Sprint(hour), Premium: "0.0003", Time: 1773532800_000 + hour*3_600_000 + 17}
			if rapid.Bool().Draw(t, "of a node too") {
				node := f
				node.Premium = ""
				all = append(all, &Batch{Events: market.Events{Funding: []market.Funding{node}}})
			}
			all = append(all, &Batch{Events: market.Events{Funding: []market.Funding{f}}})
		}
	}
	return all
}

// drawOrders draws the lives of some orders within an hour: placed, perhaps as a trigger
// that fires, filled in part, and ended, or not. Of some the beginning is not known.
func drawOrders(t *rapid.T) (all []*Batch) {
	add := func(s market.OrderStatus) {
		all = append(all, &Batch{Events: market.Events{Orders: []market.OrderStatus{s}}})
	}
	tid := int64(0)
	for n := range rapid.Int64Range(8, 24).Draw(t, "orders") { // enough to be flushed often
		at := base + rapid.Int64Range(0, 1_000_000).Draw(t, "placed")
		s := market.OrderStatus{Address: fmt.Sprintf("0x%040x", rapid.IntRange(1, 3).Draw(t, "account")), Time: at, Status: "open",
			Coin: rapid.SampledFrom([]string{"BTC", "xyz:GOLD", "@107"}).Draw(t, "coin"), Side: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "side"),
			LimitPx: fmt.Sprintf("%d.25", rapid.IntRange(1, 9).Draw(t, "px")), OrigSz: fmt.Sprintf("%d.0", rapid.IntRange(2, 9).Draw(t, "size")),
			Oid: 450_000_000_000 + 300*n, Timestamp: at, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc"}
		s.Sz = s.OrigSz
		if rapid.IntRange(0, 3).Draw(t, "trigger") == 0 {
			s.IsTrigger, s.TriggerCondition, s.Tif = true, "Price above 3", ""
			add(s)
			at += 1000
			s.Time, s.Status, s.TriggerCondition = at, "triggered", "Triggered"
		}
		if rapid.IntRange(0, 9).Draw(t, "known") > 0 {
			add(s)
		}
		for range rapid.IntRange(0, 4).Draw(t, "fills") {
			at += rapid.Int64Range(0, 2000).Draw(t, "until the fill")
			tid++
			all = append(all, &Batch{Events: market.Events{Fills: []market.Fill{{Address: s.Address, Coin: s.Coin, Px: s.LimitPx, Sz: "0.5", Side: market.Side(s.Side[0]),
				Time: at, StartPosition: "0.0", Oid: s.Oid, Tid: tid}}}})
		}
		if rapid.Bool().Draw(t, "ends") {
			s.Status, s.Time = rapid.SampledFrom([]string{"filled", "canceled", "marginCanceled"}).Draw(t, "end"), at
			add(s)
		}
	}
	return all
}

// drawTwaps draws the lives of some TWAPs within an hour: activated, filled and ended, or not.
// Of some the beginning is not known.
func drawTwaps(t *rapid.T) (all []*Batch) {
	tid := int64(0)
	for id := range rapid.Int64Range(4, 12).Draw(t, "twaps") {
		at := base + rapid.Int64Range(0, 600_000).Draw(t, "began")
		s := market.TwapStatus{Address: fmt.Sprintf("0x%040x", rapid.IntRange(1, 3).Draw(t, "account")), TwapID: &id, Time: at, Status: market.TwapActivated,
			Seq: at, Twap: market.Twap{Coin: rapid.SampledFrom([]string{"BTC", "xyz:GOLD", "@107"}).Draw(t, "coin"), Side: market.Buy, Sz: "9.0", ExecutedSz: "0.0",
				ExecutedNtl: "0.0", Minutes: rapid.Int64Range(5, 60).Draw(t, "minutes"), Timestamp: at}}
		add := func() { all = append(all, &Batch{Events: market.Events{Twaps: []market.TwapStatus{s}}}) }
		if rapid.IntRange(0, 9).Draw(t, "known") > 0 {
			add()
		}
		for range rapid.IntRange(0, 6).Draw(t, "fills") {
			at += rapid.Int64Range(0, 60_000).Draw(t, "until the fill")
			tid++
			all = append(all, &Batch{Events: market.Events{Fills: []market.Fill{{Address: s.Address, Coin: s.Coin, Px: "2.25", Sz: "0.5", Side: market.Buy,
				Time: at, StartPosition: "0.0", Oid: tid, Tid: tid, TwapID: &id}}}})
		}
		if rapid.Bool().Draw(t, "ends") {
			s.Status, s.Time = rapid.SampledFrom([]string{market.TwapFinished, market.TwapTerminated, market.TwapError}).Draw(t, "end"), at
			add()
		}
	}
	return all
}

func drawBooks(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		at := time.UnixMilli(base + 1000*s)
		all = append(all, &Batch{Events: market.Events{Books: []market.Book{book("BTC", at, fmt.Sprint(s)+".5", "1.0"), book("xyz:GOLD", at, "1.0", fmt.Sprint(s)+".5")}}})
	}
	return all
}
