package main

import (
	"context"
	"encoding/json"
	"fmt"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// maxFills is how many fills one answer holds.
const maxFills = 2000

// pageSize is how many fills one request to the log reads: about half of the
// megabyte that DynamoDB puts into a page.
const pageSize = 1000

// userFills returns the newest fills of an account, newest first.
func (i *info) userFills(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	if in.User == nil {
		return nil, errNoUser
	}
	return i.fills(ctx, store.Query{Subject: string(*in.User), Newest: true}, in.AggregateByTime)
}

// userFillsByTime returns the fills of an account between startTime and endTime
// (both inclusive), oldest first; of more than fit into an answer the oldest,
// so that the next question begins where this answer ends.
func (i *info) userFillsByTime(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	if in.User == nil {
		return nil, errNoUser
	}
	if in.StartTime == nil {
		return nil, api.BadRequest("missing startTime: it must be a time in milliseconds since 1970 UTC")
	}
	q := store.Query{Subject: string(*in.User), From: in.StartTime.Time()}
	if in.EndTime != nil {
		q.To = in.EndTime.Time()
	}
	return i.fills(ctx, q, in.AggregateByTime)
}

var errNoUser = api.BadRequest("missing user: it must be an address: 0x followed by 40 hexadecimal digits")

// fills reads the fills of a query, up to maxFills, and combines those of one
// crossing order when asked to; the order at the end is then read whole.
func (i *info) fills(ctx context.Context, q store.Query, combine bool) (json.RawMessage, error) {
	q.Dataset, q.PageSize = store.FillDataset, pageSize
	list := []catalog.InfoFill{} // [] on the wire when empty
	var last group
	seen := 0
	for row, err := range i.log.Rows(ctx, q) {
		if err != nil {
			return nil, err
		}
		var fill catalog.InfoFill
		if err := json.Unmarshal(row.Body, &fill); err != nil {
			return nil, fmt.Errorf("read fill %s of %s: %w", row.ID, row.Subject, err)
		}
		if combine && last.takes(&fill) {
			if err := last.add(&fill, q.Newest); err != nil {
				return nil, fmt.Errorf("combine fill %s of %s: %w", row.ID, row.Subject, err)
			}
			list[len(list)-1] = last.fill
			seen++
			continue
		}
		if seen >= maxFills {
			break
		}
		seen++
		last = group{fill: fill}
		list = append(list, fill)
	}
	return encode(list)
}

// group combines the fills that one crossing order got at one time, as the
// venue does for aggregateByTime: sizes, fees and profits add up, the price is
// their average by size, and what is told once (position before, trade id,
// hash) is that of the first. The fills of resting orders are never combined.
type group struct {
	fill catalog.InfoFill
	sums sums // of the fills, once there are two
}

type sums struct {
	set                        bool
	sz, value, fee, pnl, extra market.Decimal // extra is the builder's fee
}

func (g *group) takes(f *catalog.InfoFill) bool {
	h := &g.fill
	return f.Crossed && h.Crossed && f.Time == h.Time && f.Oid == h.Oid &&
		f.Coin == h.Coin && f.Side == h.Side && f.Dir == h.Dir && f.FeeToken == h.FeeToken
}

// add combines f into the group; f comes before those in it when newest is set,
// else after them.
func (g *group) add(f *catalog.InfoFill, newest bool) error {
	if !g.sums.set {
		if err := g.sums.add(&g.fill); err != nil {
			return err
		}
	}
	if err := g.sums.add(f); err != nil {
		return err
	}
	px, err := g.sums.value.Div(g.sums.sz)
	if err != nil {
		return fmt.Errorf("average price: %w", err)
	}
	builderFee := g.fill.BuilderFee
	if builderFee != nil || f.BuilderFee != nil {
		text := market.Text(g.sums.extra)
		builderFee = &text
	}
	if newest {
		g.fill = *f
	}
	g.fill.Px = market.Text(px.RoundBank(pricePlaces))
	g.fill.Sz = market.Text(g.sums.sz)
	g.fill.Fee = market.Text(g.sums.fee)
	g.fill.ClosedPnl = market.Text(g.sums.pnl)
	g.fill.BuilderFee = builderFee
	return nil
}

// pricePlaces is the most decimal places that the venue gives a price.
const pricePlaces = 8

func (s *sums) add(f *catalog.InfoFill) error {
	px, err := market.ParseDecimal(f.Px)
	if err != nil {
		return fmt.Errorf("px %w", err)
	}
	sz, err := market.ParseDecimal(f.Sz)
	if err != nil {
		return fmt.Errorf("sz %w", err)
	}
	fee, err := market.ParseDecimal(f.Fee)
	if err != nil {
		return fmt.Errorf("fee %w", err)
	}
	pnl, err := market.ParseDecimal(f.ClosedPnl)
	if err != nil {
		return fmt.Errorf("closedPnl %w", err)
	}
	if f.BuilderFee != nil {
		extra, err := market.ParseDecimal(*f.BuilderFee)
		if err != nil {
			return fmt.Errorf("builderFee %w", err)
		}
		s.extra = s.extra.Add(extra)
	}
	s.set = true
	s.sz, s.fee, s.pnl = s.sz.Add(sz), s.fee.Add(fee), s.pnl.Add(pnl)
	s.value = s.value.Add(market.Notional(px, sz))
	return nil
}
