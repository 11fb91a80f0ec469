package main

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/service/markedpositions"
)

// openPositions ranks the open positions of whales.
func (r *reader) openPositions(ctx context.Context, in catalog.WhalePositionsIn) ([]catalog.WhalePosition, error) {
	mode := strings.ToLower(strings.TrimSpace(in.MarginMode))
	switch mode {
	case "", "all", "cross", "isolated":
	default:
		return nil, api.BadParameter("invalid marginMode: %s, expect cross/isolated/all", in.MarginMode)
	}
	t, err := r.positions.Of(ctx, string(in.Coin))
	if err != nil {
		return nil, err
	}
	s := selection{Table: t, in: in, mode: mode, least: market.MicrosOf(in.MinUSD.Decimal)}
	var rows []int
	for i := range t.Rows {
		if t.Values[i].Marked && t.OfWhale(i) && s.fits(i) {
			rows = append(rows, i)
		}
	}
	slices.SortFunc(rows, s.compare)
	list := []catalog.WhalePosition{}
	for _, i := range rows[:min(len(rows), int(in.Take))] {
		list = append(list, position(t.MarkedTable, i))
	}
	return list, nil
}

// selection is which positions are asked for, and in which order.
type selection struct {
	markedpositions.Table
	in    catalog.WhalePositionsIn
	mode  string
	least market.Micros
}

func (s *selection) fits(i int) bool {
	row, value := &s.Rows[i], &s.Values[i]
	switch {
	case s.in.Coin != "" && s.Coins[row.Coin].Coin != string(s.in.Coin),
		s.in.Dir != "" && (s.in.Dir == "long") != (row.Size > 0),
		value.Usd < s.least:
		return false
	case s.mode == "cross" || s.mode == "isolated":
		if row.Leverage == 0 || (s.mode == "isolated") != s.Isolated(i) {
			return false
		}
	}
	return onSide(s.in.NpnlSide, value.Unrealized, row.Flags&market.OpenCostKnown != 0) &&
		onSide(s.in.FrSide, -row.Funding, row.Flags&market.OpenFundingKnown != 0)
}

// onSide reports whether an amount is one of a side: profit, loss, or "" for both.
func onSide(side string, amount market.Micros, known bool) bool {
	switch side {
	case "profit":
		return known && amount > 0
	case "loss":
		return known && amount < 0
	}
	return true
}

// compare puts first what the order asks for.
func (s *selection) compare(x, y int) int {
	of := func(i int) (amount int64, known bool) {
		row, value := &s.Rows[i], &s.Values[i]
		switch s.in.TopBy {
		case "position-value":
			return int64(value.Usd), true
		case "margin-balance":
			margin, known := s.Margin(i)
			return int64(margin), known
		case "profit":
			return int64(value.Unrealized), row.Flags&market.OpenCostKnown != 0
		case "loss":
			return -int64(value.Unrealized), row.Flags&market.OpenCostKnown != 0
		}
		return row.Opened, row.Opened > 0
	}
	a, knownA := of(x)
	b, knownB := of(y)
	switch {
	case knownA && !knownB:
		return -1
	case knownB && !knownA:
		return 1
	case knownA && a != b:
		return cmp.Compare(b, a)
	}
	userA, userB := s.user(x), s.user(y)
	return cmp.Or(bytes.Compare(userA[:], userB[:]), cmp.Compare(s.Coins[s.Rows[x].Coin].Coin, s.Coins[s.Rows[y].Coin].Coin))
}

func (s *selection) user(i int) [20]byte { return s.Accounts[s.Pools[s.Rows[i].Pool].Account] }

func position(t *market.MarkedTable, i int) catalog.WhalePosition {
	row, value := &t.Rows[i], &t.Values[i]
	coin := &t.Coins[row.Coin]
	p := catalog.WhalePosition{
		User: t.User(i), Symbol: coin.Coin, PositionSize: market.Text(t.Size(i)), PositionValueUsd: market.Text(value.Usd.Decimal()),
		UnrealizedPnL: market.TextOrNull(row.Flags&market.OpenCostKnown != 0, value.Unrealized.Decimal()),
		FundingFee:    market.TextOrNull(row.Flags&market.OpenFundingKnown != 0, (-row.Funding).Decimal()),
		LiqPrice:      market.TextOrNull(value.Known && value.LiquidationPx > 0, coin.Price(value.LiquidationPx)),
		CreateTime:    catalog.OrNull(row.Opened), UpdateTime: catalog.OrNull(row.Changed),
	}
	if entry, known := t.EntryPx(i); known {
		p.EntryPrice = new(market.Text(entry))
	}
	if row.Leverage > 0 {
		p.Leverage, p.MarginMode = new(int64(row.Leverage)), new(market.MarginMode(t.Isolated(i)))
		if margin, known := t.Margin(i); known {
			p.MarginBalance = new(market.Text(margin.Decimal()))
		}
	}
	return p
}

// directions counts the positions of whales on each side.
func (r *reader) directions(ctx context.Context, in catalog.WhaleDirectionsIn) (counts catalog.WhaleDirectionCounts, err error) {
	t, err := r.positions.Of(ctx, string(in.Coin))
	if err != nil {
		return counts, err
	}
	sides := t.Whales(string(in.Coin))
	return catalog.WhaleDirectionCounts{LongCount: sides.Longs, ShortCount: sides.Shorts}, nil
}
