package venue

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

const maxFills = 2000 // of one answer

func infoUserFills(e *engine, r *infoRequest, u int) ([]byte, error) {
	fills := aggregate(last(e.account(u).Fills, depthFills), r.AggregateByTime)
	return e.fillList(newestFirst(fills)), nil
}

func infoUserFillsByTime(e *engine, r *infoRequest, u int) ([]byte, error) {
	if r.StartTime == nil {
		return nil, errShape
	}
	var in []fill
	for _, f := range last(e.account(u).Fills, depthFills) {
		if f.Time >= *r.StartTime && (r.EndTime == nil || f.Time <= *r.EndTime) && len(in) < maxFills {
			in = append(in, f)
		}
	}
	return e.fillList(aggregate(in, r.AggregateByTime)), nil
}

func (e *engine) fillList(fills []fill) []byte {
	return list(nil, fills, func(b []byte, f *fill) []byte { return e.appendFill(b, f, false) })
}

// aggregate joins the fills (oldest first) of one taker order in one block, as
// aggregateByTime asks for, at their average price rounded to the market's
// decimals.
func aggregate(fills []fill, on bool) []fill {
	if !on {
		return fills
	}
	var out []fill
	for _, f := range fills {
		n := len(out)
		if n == 0 || !f.Crossed || out[n-1].Oid != f.Oid || out[n-1].Time != f.Time {
			out = append(out, f)
			continue
		}
		p := &out[n-1]
		p.Px = mulDiv(p.Px*p.Sz+f.Px*f.Sz, 1, p.Sz+f.Sz)
		p.Sz += f.Sz
		p.Closed += f.Closed
		p.Fee += f.Fee
		p.BuilderFee += f.BuilderFee
	}
	return out
}

func infoTwapSliceFills(e *engine, _ *infoRequest, u int) ([]byte, error) {
	return e.sliceList(newestFirst(last(e.account(u).Fills, depthFills))), nil
}

// sliceList writes those of the fills that belong to TWAPs.
func (e *engine) sliceList(fills []fill) []byte {
	var in []fill
	for _, f := range fills {
		if f.Twap != 0 {
			in = append(in, f)
		}
	}
	return list(nil, in, func(b []byte, f *fill) []byte {
		b = e.appendFill(append(b, `{"fill":`...), f, false)
		return append(strconv.AppendInt(append(b, `,"twapId":`...), f.Twap, 10), '}')
	})
}

func infoTwapHistory(e *engine, _ *infoRequest, u int) ([]byte, error) {
	return list(nil, newestFirst(last(e.account(u).Twapped, depthTwaps)), e.appendTwapRec), nil
}

func (e *engine) appendTwapRec(b []byte, t *twapRec) []byte {
	return append(b, object(nil).int("time", t.Time/1000).raw("state", e.appendTwap(nil, &t.Twap)).
		raw("status", twapStatusObject(t.Status)).int("twapId", t.Twap.ID).end()...)
}

func infoHistoricalOrders(e *engine, _ *infoRequest, u int) ([]byte, error) {
	return list(nil, newestFirst(last(e.account(u).Orders, depthOrders)), e.appendStatus), nil
}

// infoOrderStatus looks an order up by oid or by client order id.
func infoOrderStatus(e *engine, r *infoRequest, u int) ([]byte, error) {
	match, err := orderMatcher(r.Oid)
	if err != nil {
		return nil, err
	}
	a := e.account(u)
	wrap := func(rec orderRec) ([]byte, error) {
		return append(e.appendStatus([]byte(`{"status":"order","order":`), &rec), '}'), nil
	}
	for _, o := range a.open {
		if match(o) && !o.Silent {
			return wrap(orderRec{Order: *o, Status: "open", Time: o.Time})
		}
	}
	orders := last(a.Orders, depthOrders)
	for i := len(orders) - 1; i >= 0; i-- {
		if match(&orders[i].Order) {
			return wrap(orders[i])
		}
	}
	return []byte(`{"status":"unknownOid"}`), nil
}

func orderMatcher(raw json.RawMessage) (func(*order) bool, error) {
	if len(raw) == 0 {
		return nil, errShape
	}
	if raw[0] != '"' {
		oid, err := strconv.ParseUint(string(bytes.TrimSpace(raw)), 10, 63)
		if err != nil {
			return nil, errShape
		}
		return func(o *order) bool { return o.Oid == int64(oid) }, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || len(text) != 34 || !strings.HasPrefix(text, "0x") {
		return nil, errShape
	}
	text = strings.ToLower(text)
	if _, err := strconv.ParseUint(text[18:], 16, 64); err != nil {
		return nil, errShape
	}
	return func(o *order) bool { return o.Cloid != 0 && string(appendCloid(nil, o.Cloid)) == text }, nil
}

// window selects what lies in a request's times, at most 500, oldest first.
func window[T any](r *infoRequest, items []T, at func(*T) int64) ([]T, error) {
	if r.StartTime == nil {
		return nil, errShape
	}
	var in []T
	for i := range items {
		t := at(&items[i])
		if t >= *r.StartTime && (r.EndTime == nil || t <= *r.EndTime) && len(in) < 500 {
			in = append(in, items[i])
		}
	}
	return in, nil
}

func infoUserFunding(e *engine, r *infoRequest, u int) ([]byte, error) {
	in, err := window(r, last(e.account(u).Fundings, depthFundings), func(f *fundingRec) int64 { return f.Time })
	if err != nil {
		return nil, err
	}
	return list(nil, in, func(b []byte, f *fundingRec) []byte {
		delta := object(nil).text("type", "funding").text("coin", e.mk[f.Coin].Name).num("usdc", f.Usdc, 6).
			num("szi", f.Szi, e.mk[f.Coin].SzDec).num("fundingRate", f.Rate, 10).raw("nSamples", []byte("null")).end()
		return append(b, object(nil).int("time", f.Time).text("hash", e.txHash(0)).raw("delta", delta).end()...)
	}), nil
}

func infoLedger(e *engine, r *infoRequest, u int) ([]byte, error) {
	in, err := window(r, last(e.account(u).Ledger, depthLedger), func(l *ledgerRec) int64 { return l.Time })
	if err != nil {
		return nil, err
	}
	return list(nil, in, e.appendLedger), nil
}

func (e *engine) appendLedger(b []byte, l *ledgerRec) []byte {
	return append(b, object(nil).int("time", l.Time).text("hash", e.txHash(l.Tx)).raw("delta", []byte(l.Delta)).end()...)
}

func infoUserFees(e *engine, _ *infoRequest, u int) ([]byte, error) {
	p := profile{Taker: 450, Maker: 150}
	if u >= 0 {
		p = e.prof[u]
	}
	byDay := map[int64]dayVolume{}
	for _, d := range e.account(u).Days {
		byDay[d.Day] = d
	}
	today := e.ms() / 86_400_000
	var days []dayVolume
	for d := today - 14; d <= today; d++ {
		v := byDay[d]
		v.Day = d
		days = append(days, v)
	}
	volumes := list(nil, days, func(b []byte, d *dayVolume) []byte {
		return append(b, object(nil).text("date", time.Unix(d.Day*86_400, 0).UTC().Format("2006-01-02")).
			num("userCross", d.Cross, 6).num("userAdd", d.Add, 6).num("exchange", 0, 6).end()...)
	})
	schedule := object(nil).text("cross", "0.00045").text("add", "0.00015").text("spotCross", "0.0007").
		text("spotAdd", "0.0004").raw("tiers", []byte(`{"vip":[],"mm":[]}`)).text("referralDiscount", "0.04").
		raw("stakingDiscountTiers", []byte("[]")).end()
	null := []byte("null")
	return object(nil).raw("dailyUserVlm", volumes).raw("feeSchedule", schedule).num("userCrossRate", p.Taker, 6).
		num("userAddRate", p.Maker, 6).num("userSpotCrossRate", spotRate(&p, true), 6).
		num("userSpotAddRate", spotRate(&p, false), 6).text("activeReferralDiscount", "0.0").raw("trial", null).
		text("feeTrialReward", "0.0").raw("nextTrialAvailableTimestamp", null).raw("stakingLink", null).
		raw("activeStakingDiscount", []byte(`{"bpsOfMaxSupply":"0.0","discount":"0.0"}`)).end(), nil
}

// infoPortfolio answers the account value and PnL curves of the windows. PnL is
// the change of the value less net transfers, zero at the window's start.
func infoPortfolio(e *engine, _ *infoRequest, u int) ([]byte, error) {
	points := last(e.account(u).Equity, depthEquity)
	if u >= 0 && e.Acc[u].Joined {
		points = append(append([]equityPoint(nil), points...), e.equityNow(u))
	}
	windows := []struct {
		name string
		days int64
	}{{"Day", 1}, {"Week", 7}, {"Month", 30}, {"AllTime", 36_500}}
	b := []byte{'['}
	for _, perp := range []bool{false, true} {
		for _, w := range windows {
			name := strings.ToLower(w.name[:1]) + w.name[1:]
			if perp {
				name = "perp" + w.name
			}
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(b, `["`...), name...), `",`...)
			b = append(e.curves(b, points, e.ms()-w.days*86_400_000, perp), ']')
		}
	}
	return append(b, ']'), nil
}

func (e *engine) curves(b []byte, points []equityPoint, since int64, perp bool) []byte {
	for len(points) > 0 && points[0].Time < since {
		points = points[1:]
	}
	value := func(p *equityPoint) (worth, in, vlm int64) {
		if perp {
			return p.Perp, p.InPerp, p.Vlm
		}
		return p.Perp + p.Spot, p.InAll, p.VlmAll
	}
	point := func(b []byte, ms, v int64) []byte {
		b = strconv.AppendInt(append(b, '['), ms, 10)
		return append(appendDec(append(b, `,"`...), v, 6), `"]`...)
	}
	var first, firstVlm, vlm int64
	if len(points) > 0 {
		worth, in, v := value(&points[0])
		first, firstVlm = worth-in, v
		_, _, vlm = value(&points[len(points)-1])
	}
	values := list(nil, points, func(b []byte, p *equityPoint) []byte {
		worth, _, _ := value(p)
		return point(b, p.Time, worth)
	})
	pnls := list(nil, points, func(b []byte, p *equityPoint) []byte {
		worth, in, _ := value(p)
		return point(b, p.Time, worth-in-first)
	})
	return append(b, object(nil).raw("accountValueHistory", values).raw("pnlHistory", pnls).
		num("vlm", vlm-firstVlm, 6).end()...)
}
