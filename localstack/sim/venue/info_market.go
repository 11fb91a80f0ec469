package venue

import (
	"slices"
	"sort"
	"strconv"
)

func infoAllMids(e *engine, r *infoRequest) ([]byte, error) {
	dex, err := e.dexIndex(r)
	if err != nil {
		return nil, err
	}
	return e.appendMids(nil, dex), nil
}

// appendMids writes the mids of a dex; those of the main one include spot.
func (e *engine) appendMids(b []byte, dex int) []byte {
	var in []int
	for c, m := range e.mk {
		if m.Spot && dex == 0 || !m.Spot && m.Dex == dex {
			in = append(in, c)
		}
	}
	sort.Slice(in, func(i, j int) bool { return e.mk[in[i]].Name < e.mk[in[j]].Name })
	b = append(b, '{')
	for i, c := range in {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), e.mk[c].Name...), `":"`...)
		b = append(e.appendMid(b, c), '"')
	}
	return append(b, '}')
}

// appendMid writes the middle of the book, which has one decimal more.
func (e *engine) appendMid(b []byte, c int) []byte {
	m := &e.mk[c]
	bid, ask := e.books[c].bestPx(true), e.books[c].bestPx(false)
	if bid == 0 || ask == 0 {
		return appendDec(b, e.Mk[c].Mark, m.PxDec)
	}
	return appendDec(b, (bid+ask)*5, m.PxDec+1)
}

func infoMeta(e *engine, r *infoRequest) ([]byte, error) {
	dex, err := e.dexIndex(r)
	if err != nil {
		return nil, err
	}
	return e.appendMeta(nil, dex), nil
}

func (e *engine) appendMeta(b []byte, dex int) []byte {
	universe := list(nil, e.perpsOf(dex), func(b []byte, c *int) []byte {
		m := &e.mk[*c]
		return append(b, object(nil).int("szDecimals", int64(m.SzDec)).text("name", m.Name).int("maxLeverage", m.MaxLev).
			int("marginTableId", int64(m.Table)).end()...)
	})
	tables := list(nil, marginTables, func(b []byte, t *marginTable) []byte {
		rows := list(nil, t.rows, func(b []byte, row *[2]int64) []byte {
			return append(b, object(nil).num("lowerBound", row[0], 0).int("maxLeverage", row[1]).end()...)
		})
		b = strconv.AppendInt(append(b, '['), int64(t.id), 10)
		b = append(append(b, ','), object(nil).text("description", t.description).raw("marginTiers", rows).end()...)
		return append(b, ']')
	})
	return append(b, object(nil).raw("universe", universe).raw("marginTables", tables).int("collateralToken", int64(e.dexes[dex].token)).end()...)
}

func (e *engine) perpsOf(dex int) []int {
	var out []int
	for c := range e.perps {
		if e.mk[c].Dex == dex {
			out = append(out, c)
		}
	}
	return out
}

func infoMetaAndAssetCtxs(e *engine, r *infoRequest) ([]byte, error) {
	dex, err := e.dexIndex(r)
	if err != nil {
		return nil, err
	}
	b := append(e.appendMeta([]byte{'['}, dex), ',')
	b = list(b, e.perpsOf(dex), func(b []byte, c *int) []byte { return e.appendPerpCtx(b, *c) })
	return append(b, ']'), nil
}

// appendPerpCtx writes a perp's context; funding is the hourly rate that would
// be paid now.
func (e *engine) appendPerpCtx(b []byte, c int) []byte {
	m, s := &e.mk[c], &e.Mk[c]
	base, quote, prev := e.day(c)
	o := object(nil).num("funding", e.predicted(c), 10).num("openInterest", e.openInterest(c), m.SzDec).
		num("prevDayPx", prev, m.PxDec).num("dayNtlVlm", quote, 6).num("premium", s.Premium, 10).
		num("oraclePx", s.Oracle, m.PxDec).num("markPx", s.Mark, m.PxDec)
	o = append(e.appendMid(append(o.key("midPx"), '"'), c), '"')
	bid, okBid := e.impact(c, true)
	ask, okAsk := e.impact(c, false)
	if okBid && okAsk {
		pair := append(appendDec([]byte(`["`), bid, m.PxDec), `","`...)
		o = o.raw("impactPxs", append(appendDec(pair, ask, m.PxDec), `"]`...))
	} else {
		o = o.raw("impactPxs", []byte("null"))
	}
	return append(b, o.num("dayBaseVlm", base, m.SzDec).end()...)
}

// predicted is the funding rate from the samples of the hour so far.
func (e *engine) predicted(c int) int64 {
	s := &e.Mk[c]
	if s.PremN == 0 {
		return s.Rate
	}
	return hourlyRate(s.PremSum / s.PremN)
}

// openInterest is the sum of the long positions, in size units.
func (e *engine) openInterest(c int) int64 {
	var sum int64
	for u := range e.Acc {
		sum += max(0, e.Acc[u].Pos[c].Szi)
	}
	return sum
}

// impact is the average price of a market order for the impact notional.
func (e *engine) impact(c int, bids bool) (int64, bool) {
	want := int64(6_000 * usd)
	if c < 2 {
		want = 20_000 * usd
	}
	var sz, ntl int64
	e.books[c].depth(bids, func(px, have int64, _ int) bool {
		take := min(have, (want-ntl)/px+1)
		sz += take
		ntl += take * px
		return ntl < want
	})
	if ntl < want {
		return 0, false
	}
	if bids {
		return floorTick(ntl/sz, e.mk[c].PxDec), true
	}
	return ceilTick((ntl+sz-1)/sz, e.mk[c].PxDec), true
}

func infoSpotMeta(e *engine, _ *infoRequest) ([]byte, error) { return e.appendSpotMeta(nil), nil }

func (e *engine) appendSpotMeta(b []byte) []byte {
	universe := list(nil, e.mk[e.perps:], func(b []byte, m *market) []byte {
		pair := append(strconv.AppendInt([]byte{'['}, int64(m.Token), 10), ",0]"...)
		return append(b, object(nil).raw("tokens", pair).text("name", m.Name).int("index", int64(m.Pair)).
			bool("isCanonical", m.Pair == 0).end()...)
	})
	index := int64(-1)
	toks := list(nil, e.tokens, func(b []byte, t *token) []byte {
		index++
		o := object(nil).text("name", t.name).int("szDecimals", int64(t.szDec)).int("weiDecimals", int64(t.weiDec)).
			int("index", index).text("tokenId", address(e.Seed, 1<<41+uint64(index))[:34]).bool("isCanonical", index < 2).
			raw("evmContract", []byte("null"))
		if t.fullName == "" {
			o = o.raw("fullName", []byte("null"))
		} else {
			o = o.text("fullName", t.fullName)
		}
		return append(b, o.text("deployerTradingFeeShare", "0.0").end()...)
	})
	return append(b, object(nil).raw("universe", universe).raw("tokens", toks).end()...)
}

func infoSpotMetaAndAssetCtxs(e *engine, _ *infoRequest) ([]byte, error) {
	b := append(e.appendSpotMeta([]byte{'['}), ',')
	var spots []int
	for c := e.perps; c < len(e.mk); c++ {
		spots = append(spots, c)
	}
	b = list(b, spots, func(b []byte, c *int) []byte { return e.appendSpotCtx(b, *c) })
	return append(b, ']'), nil
}

func (e *engine) appendSpotCtx(b []byte, c int) []byte {
	m, s := &e.mk[c], &e.Mk[c]
	base, quote, prev := e.day(c)
	supply := e.Genesis[m.Token]
	o := object(nil).num("prevDayPx", prev, m.PxDec).num("dayNtlVlm", quote, 8).num("markPx", s.Mark, m.PxDec)
	o = append(e.appendMid(append(o.key("midPx"), '"'), c), '"')
	return append(b, o.num("circulatingSupply", supply, 8).text("coin", m.Name).num("totalSupply", supply, 8).
		num("dayBaseVlm", base, m.SzDec).end()...)
}

func infoPerpDexs(e *engine, _ *infoRequest) ([]byte, error) {
	index := 0
	return list(nil, e.dexes, func(b []byte, d *dex) []byte {
		i := index
		index++
		if i == 0 {
			return append(b, "null"...)
		}
		deployer := address(e.Seed, 1<<42+uint64(i)-1)
		caps := list(nil, e.perpsOf(i), func(b []byte, c *int) []byte {
			return append(append(append(b, `["`...), e.mk[*c].Name...), `","25000000.0"]`...)
		})
		sub := append(append([]byte(`[["setOracle",["`), deployer...), `"]]]`...)
		return append(b, object(nil).text("name", d.name).text("fullName", d.fullName).text("deployer", deployer).
			raw("oracleUpdater", []byte("null")).text("feeRecipient", deployer).raw("assetToStreamingOiCap", caps).
			raw("subDeployers", sub).text("deployerFeeScale", "1.0").
			text("lastDeployerFeeScaleChangeTime", "1970-01-01T00:00:00").raw("assetToFundingMultiplier", []byte("[]")).end()...)
	}), nil
}

func infoL2Book(e *engine, r *infoRequest) ([]byte, error) {
	c, err := e.coinIndex(r.Coin)
	if err != nil {
		return nil, err
	}
	group, ok := grouping(r.NSigFigs, r.Mantissa)
	if !ok {
		return nil, errShape
	}
	return e.appendBook(nil, c, group, bookDepth), nil
}

// bookGroup is how levels are joined: to so many significant figures, the last
// of which in steps of the mantissa. Zero means not at all.
type bookGroup struct{ figs, mantissa int }

func grouping(figs, mantissa *int) (bookGroup, bool) {
	switch {
	case figs == nil:
		return bookGroup{}, mantissa == nil
	case *figs < 2 || *figs > 5:
		return bookGroup{}, false
	case mantissa == nil:
		return bookGroup{*figs, 1}, true
	}
	ok := *figs == 5 && (*mantissa == 1 || *mantissa == 2 || *mantissa == 5)
	return bookGroup{*figs, *mantissa}, ok
}

// round joins px into its group: bids down, asks up.
func (g bookGroup) round(px int64, bid bool) int64 {
	if g.figs == 0 {
		return px
	}
	step := int64(1)
	for v := px; v >= pow10[g.figs]; v /= 10 {
		step *= 10
	}
	step *= int64(g.mantissa)
	if bid {
		return px / step * step
	}
	return (px + step - 1) / step * step
}

// How many prices a side of a book shows.
const (
	bookDepth     = 20
	fastBookDepth = 5
)

func (e *engine) appendBook(b []byte, c int, g bookGroup, prices int) []byte {
	b = append(append(b, `{"coin":"`...), e.mk[c].Name...)
	b = strconv.AppendInt(append(b, `","time":`...), e.ms(), 10)
	b = e.appendSide(append(b, `,"levels":[`...), c, true, g, prices)
	b = e.appendSide(append(b, ','), c, false, g, prices)
	return append(b, `]}`...)
}

func (e *engine) appendSide(b []byte, c int, bids bool, g bookGroup, prices int) []byte {
	type row struct {
		px, sz int64
		n      int
	}
	rows := make([]row, 0, prices+1)
	e.books[c].depth(bids, func(px, sz int64, n int) bool {
		px = g.round(px, bids)
		if k := len(rows); k > 0 && rows[k-1].px == px {
			rows[k-1].sz += sz
			rows[k-1].n += n
			return true
		}
		rows = append(rows, row{px, sz, n})
		return len(rows) <= prices
	})
	return list(b, rows[:min(len(rows), prices)], func(b []byte, r *row) []byte {
		return e.appendLevel(b, c, r.px, r.sz, r.n)
	})
}

func (e *engine) appendLevel(b []byte, c int, px, sz int64, n int) []byte {
	b = appendDec(append(b, `{"px":"`...), px, e.mk[c].PxDec)
	b = appendDec(append(b, `","sz":"`...), sz, e.mk[c].SzDec)
	return append(strconv.AppendInt(append(b, `","n":`...), int64(n), 10), '}')
}

func infoCandles(e *engine, r *infoRequest) ([]byte, error) {
	if r.Req == nil || r.Req.StartTime == nil || intervals[r.Req.Interval] == 0 {
		return nil, errShape
	}
	c, err := e.coinIndex(r.Req.Coin)
	if err != nil {
		return nil, err
	}
	end := e.ms()
	if r.Req.EndTime != nil {
		end = *r.Req.EndTime
	}
	if !sane(*r.Req.StartTime) || !sane(end) {
		return nil, errShape
	}
	first, _ := bucketOf(r.Req.Interval, *r.Req.StartTime)
	candles := flat(e.Mk[c].candles(r.Req.Interval, 0, end), r.Req.Interval, min(end, e.ms()))
	before := slices.IndexFunc(candles, func(k candle) bool { return k.T >= first })
	if before < 0 {
		before = len(candles)
	}
	return list(nil, last(candles[before:], 5000), func(b []byte, k *candle) []byte {
		return e.appendCandle(b, c, r.Req.Interval, k)
	}), nil
}

// sane bounds a time of a request (ms) to what calendars can hold.
func sane(ms int64) bool { return ms >= 0 && ms < 253_402_300_800_000 }

func infoRecentTrades(e *engine, r *infoRequest) ([]byte, error) {
	c, err := e.coinIndex(r.Coin)
	if err != nil {
		return nil, err
	}
	return list(nil, newestFirst(last(e.Mk[c].Tape, 10)), func(b []byte, t *tradeRec) []byte {
		return e.appendTrade(b, c, t)
	}), nil
}

func newestFirst[T any](items []T) []T {
	out := make([]T, 0, len(items))
	for i := len(items) - 1; i >= 0; i-- {
		out = append(out, items[i])
	}
	return out
}

func infoFundingHistory(e *engine, r *infoRequest) ([]byte, error) {
	if r.StartTime == nil {
		return nil, errShape
	}
	c, err := e.coinIndex(r.Coin)
	if err != nil {
		return nil, err
	}
	var in []fundingPoint
	for _, f := range e.Mk[c].Funding {
		if f.Time >= *r.StartTime && (r.EndTime == nil || f.Time <= *r.EndTime) && len(in) < 500 {
			in = append(in, f)
		}
	}
	return list(nil, in, func(b []byte, f *fundingPoint) []byte {
		return append(b, object(nil).text("coin", e.mk[c].Name).num("fundingRate", f.Rate, 10).
			num("premium", f.Premium, 10).int("time", f.Time).end()...)
	}), nil
}

func infoPredictedFundings(e *engine, _ *infoRequest) ([]byte, error) {
	next := (e.ms()/3_600_000 + 1) * 3_600_000
	return list(nil, e.perpsOf(0), func(b []byte, c *int) []byte {
		b = append(append(append(b, `["`...), e.mk[*c].Name...), `",[["HlPerp",`...)
		b = append(b, object(nil).num("fundingRate", e.predicted(*c), 10).int("nextFundingTime", next).
			int("fundingIntervalHours", 1).end()...)
		return append(b, `]]]`...)
	}), nil
}
