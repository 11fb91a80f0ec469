package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
	"quotary/shared/text/lenient"
)

var errAccount = errors.New("is no state of an account")

// amount is a decimal that the venue writes as a text. What is missing, null or no decimal
// is 0 and not known.
type amount struct {
	market.Decimal
	known bool
}

// UnmarshalJSON never fails.
func (d *amount) UnmarshalJSON(b []byte) error {
	var text lenient.Text
	_ = text.UnmarshalJSON(b)
	parsed, err := market.ParseDecimal(string(text))
	*d = amount{parsed, err == nil}
	return nil
}

type leverage struct {
	Type   string `json:"type"` // cross or isolated
	Value  int64  `json:"value"`
	RawUsd amount `json:"rawUsd"` // of an isolated position
}

func (l *leverage) parse() (market.Leverage, error) {
	if l.Type != "cross" && l.Type != "isolated" || l.Value < 1 {
		return market.Leverage{}, fmt.Errorf("a leverage of %d, %q: %w", l.Value, l.Type, errAccount)
	}
	return market.Leverage{Isolated: l.Type == "isolated", Value: l.Value}, nil
}

type marginSummary struct {
	AccountValue    amount `json:"accountValue"`
	TotalNtlPos     amount `json:"totalNtlPos"`
	TotalRawUsd     amount `json:"totalRawUsd"`
	TotalMarginUsed amount `json:"totalMarginUsed"`
}

func (s *marginSummary) parse() market.MarginSummary {
	return market.MarginSummary{
		AccountValue: s.AccountValue.Decimal, TotalNtlPos: s.TotalNtlPos.Decimal,
		TotalRawUsd: s.TotalRawUsd.Decimal, TotalMarginUsed: s.TotalMarginUsed.Decimal,
	}
}

type position struct {
	Coin           string   `json:"coin"`
	Szi            amount   `json:"szi"`
	Leverage       leverage `json:"leverage"`
	EntryPx        amount   `json:"entryPx"`
	PositionValue  amount   `json:"positionValue"`
	UnrealizedPnl  amount   `json:"unrealizedPnl"`
	ReturnOnEquity amount   `json:"returnOnEquity"`
	LiquidationPx  amount   `json:"liquidationPx"` // null where there is none
	MarginUsed     amount   `json:"marginUsed"`
	MaxLeverage    int64    `json:"maxLeverage"`
	CumFunding     struct {
		AllTime     amount `json:"allTime"`
		SinceOpen   amount `json:"sinceOpen"`
		SinceChange amount `json:"sinceChange"`
	} `json:"cumFunding"`
}

func (p *position) parse() (market.PositionState, error) {
	if !market.ValidCoin(p.Coin) || p.Szi.IsZero() || !p.PositionValue.known || !p.UnrealizedPnl.known || p.Leverage.Type == "isolated" && !p.Leverage.RawUsd.known {
		return market.PositionState{}, fmt.Errorf("a position in %.80q: %w", p.Coin, errAccount)
	}
	l, err := p.Leverage.parse()
	return market.PositionState{
		Coin: p.Coin, Szi: p.Szi.Decimal, Leverage: l, RawUsd: p.Leverage.RawUsd.Decimal,
		EntryPx: p.EntryPx.Decimal, PositionValue: p.PositionValue.Decimal, UnrealizedPnl: p.UnrealizedPnl.Decimal,
		ReturnOnEquity: p.ReturnOnEquity.Decimal, LiquidationPx: p.LiquidationPx.Decimal, MarginUsed: p.MarginUsed.Decimal, MaxLeverage: p.MaxLeverage,
		FundingAllTime: p.CumFunding.AllTime.Decimal, FundingSinceOpen: p.CumFunding.SinceOpen.Decimal, FundingSinceChange: p.CumFunding.SinceChange.Decimal,
	}, err
}

// ParseAccount reads what the venue answers to clearinghouseState for a dex:
//
//	{"marginSummary","crossMarginSummary","crossMaintenanceMarginUsed","withdrawable",
//	 "assetPositions":[{"position":{"coin","szi","leverage":{"type","value","rawUsd"},..}}],"time":ms}
//
// It fails on what lacks a figure that the account is folded from: half a state is
// worse than none.
func ParseAccount(raw []byte, dex string) (market.AccountState, error) {
	var w struct {
		Margin           *marginSummary `json:"marginSummary"`
		CrossMargin      *marginSummary `json:"crossMarginSummary"`
		CrossMaintenance amount         `json:"crossMaintenanceMarginUsed"`
		Withdrawable     amount         `json:"withdrawable"`
		Positions        []struct {
			Position position `json:"position"`
		} `json:"assetPositions"`
		Time int64 `json:"time"`
	}
	if err := lenient.Object(raw, &w); err != nil {
		return market.AccountState{}, fmt.Errorf("read the state of an account: %w", err)
	}
	if w.Margin == nil || w.CrossMargin == nil || !w.CrossMargin.AccountValue.known || w.Time <= 0 || w.Time > market.MaxTime {
		return market.AccountState{}, errAccount
	}
	s := market.AccountState{
		Dex: dex, Time: w.Time, Margin: w.Margin.parse(), CrossMargin: w.CrossMargin.parse(),
		CrossMaintenance: w.CrossMaintenance.Decimal, Withdrawable: w.Withdrawable.Decimal,
	}
	for i := range w.Positions {
		p, err := w.Positions[i].Position.parse()
		if err != nil {
			return market.AccountState{}, err
		}
		s.Positions = append(s.Positions, p)
	}
	return s, nil
}

// ParseSpotBalances reads what the venue answers to spotClearinghouseState:
//
//	{"balances":[{"coin":"USDC","token":0,"total","hold","entryNtl","supplied","borrowed"}, ...]}
//
// The last two are there under portfolio margin alone, and where they are not zero.
func ParseSpotBalances(raw []byte) (balances []market.SpotBalance, joint bool, err error) {
	var w struct {
		Balances []struct {
			Coin     string `json:"coin"`
			Token    int64  `json:"token"`
			Total    amount `json:"total"`
			Hold     amount `json:"hold"`
			EntryNtl amount `json:"entryNtl"`
			Supplied amount `json:"supplied"`
			Borrowed amount `json:"borrowed"`
		} `json:"balances"`
		AfterMaintenance []json.RawMessage `json:"tokenToAvailableAfterMaintenance"`
	}
	if err := lenient.Object(raw, &w); err != nil {
		return nil, false, fmt.Errorf("read spot balances: %w", err)
	}
	if w.Balances == nil {
		return nil, false, fmt.Errorf("spot balances: %w", errAccount)
	}
	balances = make([]market.SpotBalance, len(w.Balances))
	for i, b := range w.Balances {
		if !market.ValidCoin(b.Coin) || !b.Total.known {
			return nil, false, fmt.Errorf("a spot balance of %.80q: %w", b.Coin, errAccount)
		}
		balances[i] = market.SpotBalance{Coin: b.Coin, Token: b.Token, Total: b.Total.Decimal, Hold: b.Hold.Decimal, EntryNtl: b.EntryNtl.Decimal, Lent: b.Supplied.Sub(b.Borrowed.Decimal)}
	}
	return balances, w.AfterMaintenance != nil, nil
}

// ParseMode reads what the venue answers to userAbstraction: a mode by its name, as a JSON
// string.
func ParseMode(raw []byte) (market.Mode, error) {
	var name string
	if err := json.Unmarshal(raw, &name); err != nil || name == "" {
		return market.ModeUnknown, fmt.Errorf("the mode of an account: %w", errAccount)
	}
	return market.ParseMode(name), nil
}

// ParseLeverage reads the leverage of what the venue answers to activeAssetData:
//
//	{"user","coin","leverage":{"type":"cross","value":20},"maxTradeSzs",..}
func ParseLeverage(raw []byte) (market.Leverage, error) {
	var w struct {
		Leverage leverage `json:"leverage"`
	}
	if err := lenient.Object(raw, &w); err != nil {
		return market.Leverage{}, fmt.Errorf("read a leverage: %w", err)
	}
	return w.Leverage.parse()
}

// ParseOpenOrder reads one of what the venue answers to frontendOpenOrders, an order
// that rests or waits for its trigger at a time, ms.
func ParseOpenOrder(raw []byte, address string, ms int64) (market.OrderStatus, error) {
	r := orderReader{Scanner: jsonscan.New(string(raw)), line: string(raw)}
	s := market.OrderStatus{Address: address, Time: ms, Status: market.StatusOpen}
	if !r.object("the order", func(key string) bool { return r.order(&s, key) }) || !r.End() || r.wrong != "" { // r.err costs nothing
		return market.OrderStatus{}, fmt.Errorf("an open order: %w at byte %d", errSyntax, r.Offset())
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("an open order: %w", err)
	}
	return s, nil
}
