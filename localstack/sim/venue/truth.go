package venue

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Truth is the venue's whole exact state of an account, in units of
// millionths of a USDC (token balances hundred-millionths), for comparison
// with figures that were derived from the streams.
type Truth struct {
	Address   string
	Joined    bool             // false: it never had money
	Mode      string           // as userAbstraction answers it
	Modes     int64            // how often it changed
	Cash      map[string]int64 // by dex
	Positions []TruthPosition  // every perp it ever traded, flat ones too
	Tokens    map[string]int64 // booked spot balances with isolated margins that they back, hundred-millionths
	Deposited int64            // deposits from outside
	Withdrawn int64            // withdrawals to outside, fees excluded
	NetPerp   int64            // net transfers into the perp side
	NetSpot   int64            // net transfers into the spot side
	Volume    int64            // perp
	Equity    int64            // perp account value over all dexes
	Fills     int              // kept in the history ring

	Totals      map[string]int64 // spot balances as spotClearinghouseState answers them, hundred-millionths
	Supplied    map[string]int64 // by token, hundred-millionths; with the interest that is booked
	Borrowed    map[string]int64 // likewise
	Unrealized  map[string]int64 // PnL of open positions by collateral token, millionths of it
	Isolated    map[string]int64 // value of isolated positions by collateral token, millionths of it
	Maintenance map[string]int64 // of cross positions by collateral token, millionths of it
	DexMargins  map[string]int64 // the same by dex
	Backings    []TruthBacking   // of tokens by their first positions, oldest first
	PerpValue   int64            // what backs perpetuals, millionths of a USDC
	SpotValue   int64            // what does not; nothing is in both

	// How often it changed open positions by what no stream of the node tells: their
	// leverage, and the margin of isolated ones.
	LeverageChanges, MarginAdded, MarginRemoved int64
}

// TruthBacking is a token that began to back positions, and so came from the spot side into the
// perp side with all that the account had of it.
type TruthBacking struct {
	Token  string
	Time   int64 // ms
	Amount int64 // hundred-millionths
	Worth  int64 // at the mark of the moment, millionths of a USDC
}

// TruthPosition is one perp of an account. Prices and sizes are decimal
// strings, money millionths of a USDC.
type TruthPosition struct {
	Coin       string
	Szi        string
	EntryPx    string // "" when flat
	Cost       int64  // signed entry cost
	Mark       string
	Leverage   int64
	Dex        string
	Collateral string // token that costs, PnL, fees and funding are in
	Isolated   bool
	Margin     int64 // isolated margin in cash
	Unrealized int64
	MarginUsed int64
	Maintained int64  // maintenance margin
	Liquidates string // liquidation price; "" where there is none
	Realized   int64  // sum of closedPnl since the beginning
	Fees       int64  // sum of fees since the beginning, builders' part included
	Funding    int64  // paid (positive) since the beginning
	Volume     int64
	Opened     int64 // ms, 0 when flat
}

// TruthOf returns the exact state of an address; one that never traded is an
// account that has not joined.
func (v *Venue) TruthOf(addr string) Truth {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.eng
	addr = strings.ToLower(addr)
	u := e.userIndex(addr)
	t := Truth{Address: addr, Mode: modeDefault.String(), Cash: map[string]int64{}, Tokens: map[string]int64{}}
	if u < 0 {
		return t
	}
	a := &e.Acc[u]
	t.Mode = a.Mode.String()
	t.Joined, t.Deposited, t.Withdrawn = a.Joined, a.Deposited, a.Withdrawn
	t.NetPerp, t.NetSpot, t.Volume, t.Equity = a.NetPerp, a.NetSpot, a.Vlm, e.perpEquity(u)
	t.Fills = len(last(a.Fills, depthFills))
	t.LeverageChanges, t.MarginAdded, t.MarginRemoved = a.Adjusted.Leverage, a.Adjusted.MarginIn, a.Adjusted.MarginOut
	for d := range e.dexes {
		t.Cash[e.dexes[d].name] = *a.cash(d)
	}
	e.truthTokens(&t, u)
	for c := range e.perps {
		if p := &a.Pos[c]; p.Volume != 0 {
			t.Positions = append(t.Positions, e.truthPosition(u, c))
		}
	}
	return t
}

// truthTokens fills in what an account has by token and by dex.
func (e *engine) truthTokens(t *Truth, u int) {
	a := &e.Acc[u]
	t.Modes, t.PerpValue, t.SpotValue = a.ModeChanges, e.perpEquity(u), e.spotValue(u)
	t.Backings = slices.Clone(a.Backings)
	for _, m := range []*map[string]int64{&t.Totals, &t.Supplied, &t.Borrowed, &t.Unrealized, &t.Isolated, &t.Maintenance,
		&t.DexMargins} {
		*m = map[string]int64{}
	}
	for i, tok := range e.tokens {
		t.Tokens[tok.name], t.Totals[tok.name] = e.booked(u, i), e.total(u, i)
		t.Supplied[tok.name], t.Borrowed[tok.name] = max(0, a.lent(i)), max(0, -a.lent(i))
	}
	for d := range e.dexes {
		i := e.dexes[d].token
		name := e.tokens[i].name
		t.Unrealized[name], t.Isolated[name] = e.unrealized(u, i), e.isolatedMargin(u, i)
		t.Maintenance[name], t.DexMargins[e.dexes[d].name] = e.maintOfToken(u, i), e.maintIn(u, d)
	}
}

func (e *engine) truthPosition(u, c int) TruthPosition {
	p, m := &e.Acc[u].Pos[c], &e.mk[c]
	t := TruthPosition{Coin: m.Name, Szi: dec(p.Szi, m.SzDec), Cost: p.Cost, Mark: dec(e.Mk[c].Mark, m.PxDec),
		Leverage: p.Lev, Isolated: p.Iso, Margin: p.Margin, Unrealized: p.Szi*e.Mk[c].Mark - p.Cost,
		Realized: p.Realized, Fees: p.Fees, Funding: p.FundAll, Volume: p.Volume}
	t.Dex, t.Collateral = e.dexes[m.Dex].name, e.tokens[e.collateral(c)].name
	if p.Szi != 0 {
		t.MarginUsed, t.Maintained = mulDivUp(e.notional(u, c), 1, p.Lev), maintenance(m.Tiers, e.notional(u, c))
		if p.Iso {
			t.MarginUsed = e.isoEquity(u, c)
		}
		if px, ok := e.liquidationPx(u, c); ok {
			t.Liquidates = dec(px, m.PxDec+liqExtra)
		}
		t.EntryPx, t.Opened = dec(e.entryPx(u, c), m.PxDec), p.Opened
	}
	return t
}

// TruthCoin is the exact state of a market. Volume is in quote units (perps
// millionths, spot hundred-millionths of a USDC), open interest one-sided.
type TruthCoin struct {
	Coin         string
	Spot         bool
	Oracle       string
	Mark         string
	OpenInterest string
	Longs        int
	Shorts       int
	Trades       int64
	Volume       int64
	BaseVolume   string
	FundingRate  string // last paid, hourly
}

// TruthBooks is what the whole venue's money must add up to: the sum of all
// balances at cost plus fees equals deposits minus withdrawals.
type TruthBooks struct {
	Block          int64
	TimeMs         int64
	Deposited      int64
	Withdrawn      int64 // fees included
	PerpFees       int64
	BuilderFees    map[string]int64 // by builder address
	SpotFees       map[string]int64 // by token, hundred-millionths
	FundingResidue int64
	DexFees        map[string]int64 // by collateral but USDC: all fees and what rounding of funding left
	MarketLiqs     int64            // liquidation orders sent into the book
	BackstopLiqs   int64            // positions that the vault took over
	Deleveraged    int64            // positions that were closed by auto-deleveraging
	Coins          []TruthCoin
	Addresses      []string // accounts that have joined
}

// Truth returns the exact state of the venue.
func (v *Venue) Truth() TruthBooks {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.eng
	t := TruthBooks{Block: e.Block, TimeMs: e.ms(), Deposited: e.Deposited, Withdrawn: e.Withdrawn, PerpFees: e.PerpFees,
		FundingResidue: e.FundingResidue, MarketLiqs: e.Liquidations[0], BackstopLiqs: e.Liquidations[1],
		Deleveraged: e.Deleveraged,
		BuilderFees: map[string]int64{}, SpotFees: map[string]int64{}, DexFees: map[string]int64{}}
	for i, n := range e.DexFees {
		if i > 0 {
			t.DexFees[e.tokens[i].name] = n
		}
	}
	for i, n := range e.BuilderFees {
		t.BuilderFees[e.bld[i]] = n
	}
	for i, n := range e.SpotFees {
		t.SpotFees[e.tokens[i].name] = n
	}
	for u := range e.Acc {
		if e.Acc[u].Joined {
			t.Addresses = append(t.Addresses, e.prof[u].Addr)
		}
	}
	for c := range e.mk {
		t.Coins = append(t.Coins, e.truthCoin(c))
	}
	return t
}

// MarksAt returns the prices of the venue's own perpetuals at a time by name, as plain
// decimals: of now the mark prices, and of the past what was paid last until then, as far back
// as the venue knows it.
func (v *Venue) MarksAt(at time.Time) map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, marks := v.eng, map[string]string{}
	for _, c := range e.perpsOf(0) {
		price := e.Mk[c].Mark
		if ms := at.UnixMilli(); ms < e.ms()-time.Minute.Milliseconds() {
			price = e.Mk[c].paidAt(ms)
		}
		if price > 0 {
			marks[e.mk[c].Name] = dec(price, e.mk[c].PxDec)
		}
	}
	return marks
}

// paidAt is the price of the last trade until a time, ms, to the minute or, of long ago, the
// hour; 0 where it is not known.
func (s *marketState) paidAt(ms int64) int64 {
	for _, list := range [][]candle{s.Minutes, s.Hours} {
		for i := range slices.Backward(list) {
			if list[i].T <= ms {
				return list[i].C
			}
		}
	}
	return 0
}

func (e *engine) truthCoin(c int) TruthCoin {
	m, s := &e.mk[c], &e.Mk[c]
	t := TruthCoin{Coin: m.Name, Spot: m.Spot, Oracle: dec(s.Oracle, m.PxDec), Mark: dec(s.Mark, m.PxDec),
		Trades: s.Trades, Volume: s.Volume, BaseVolume: dec(s.Base, m.SzDec), OpenInterest: "0.0"}
	if m.Spot {
		return t
	}
	t.OpenInterest, t.FundingRate = dec(e.openInterest(c), m.SzDec), dec(s.Rate, 10)
	for u := range e.Acc {
		switch szi := e.Acc[u].Pos[c].Szi; {
		case szi > 0:
			t.Longs++
		case szi < 0:
			t.Shorts++
		}
	}
	return t
}

func (v *Venue) serveTruthAccounts(w http.ResponseWriter, r *http.Request) {
	addr := r.URL.Query().Get("address")
	if !addressForm.MatchString(addr) {
		http.Error(w, "address must be 0x and 40 hex digits", http.StatusBadRequest)
		return
	}
	writeValue(w, v.TruthOf(addr))
}

func (v *Venue) serveTruthCoins(w http.ResponseWriter, _ *http.Request) { writeValue(w, v.Truth()) }
