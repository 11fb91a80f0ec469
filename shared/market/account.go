package market

import (
	"cmp"
	"slices"
	"strings"
)

// Account is what is known of one account: a fold of its fills, funding payments and
// ledger updates over what the venue said of it last (see [Anchor]). The zero value
// knows nothing.
//
// Each event changes it at most once: [Account.Fill], [Account.Payment] and
// [Account.Ledger] say what became of it. Events of one kind are expected in their
// order, and of different kinds in about theirs; what cannot be taken in any more is
// Late or a Gap and changes nothing, so that who folds can begin again from the logs.
//
// The cost of a position that was opened unseen is not known until an anchor or a fill
// that closes a part of it tells: its closedPnl says what the part had cost. Funds are
// known from the first anchor on; before, they are what the seen events moved.
//
// Its slices are sorted by their names and are changed by its methods alone.
type Account struct {
	Address  string
	Since    int64 // ms of the first event that was taken in; 0 before any
	Time     int64 // ms of the newest event or anchor
	Anchored int64 // ms of the newest anchor of the main dex; 0 without any
	Mode     Mode  // as the venue said it last
	Lost     int64 // ms of the newest event that moved nobody knows what; 0 without any

	Dexes    []DexFunds
	Holdings []Holding      // by coin, flat ones too
	Spot     []SpotHolding  // by token
	SpotTime int64          // ms of the newest anchor of the spot balances; 0 without any, and where they are not known any more
	Updates  []LedgerUpdate // the newest ones, oldest first: what comes again is known by them

	// UpdatesSince is the ms from which on Updates has all of them; 0 where it has all.
	UpdatesSince int64

	// What came into the account from outside of its perps or its spot part less what
	// left, USDC: transfers between the two count in both, and their fees, as far
	// as these are paid in USDC, as what left. Where one balance a token stands behind
	// positions, the perps are the tokens that do: see [SpotHolding.Backs].
	NetPerp, NetSpot Decimal
}

// DexFunds are the funds of an account in a dex.
type DexFunds struct {
	Dex      string  // "" is the main one
	Cash     Decimal // of cross positions, without their unrealized PnL, units of the dex's collateral; 0 where spot balances stand behind positions
	Anchored int64   // ms of the newest anchor; 0 without any
	Posted   *Posted // as the newest anchor said it; nil where the dex has cash of its own
}

// Posted is the part of an account's balances that the venue shows in a dex where spot
// balances stand behind positions, units of the dex's collateral. Its rule is the venue's
// own.
type Posted struct {
	AccountValue, TotalRawUsd           Decimal // of all positions
	CrossAccountValue, CrossTotalRawUsd Decimal // without the isolated ones
	Withdrawable                        Decimal
}

// Holding is what is known of an account in a coin. On spot, only Last is of meaning:
// balances are kept by token.
type Holding struct {
	Coin     string
	Leverage Leverage
	Began    int64 // ms of the first fill of the unbroken chain; 0 without any
	Last     Order // of the last fill
	Paid     int64 // ms of the last funding payment

	FundingAllTime Decimal // paid less received, quote units
	Open           *OpenPosition

	// Unsure says that it is not known what is held: the next fill tells. See [Account.Forget].
	Unsure bool
	// Gap is the order of the first event that did not fit to what is held, zero without
	// one: something before it is missing, and nothing behind it is taken in until it fits.
	// A payment comes before all fills of its time.
	Gap Order
	// Late says that an event came too late to be taken in, so that its figures lack it.
	Late bool
}

// OpenPosition is a position of an account in a perp and what it has been since it was
// opened. Its unrealized PnL at a mark is Size x mark - Cost.
type OpenPosition struct {
	Size   Decimal // base units, negative is short; not 0
	Cost   Decimal // of Size at entry, with its sign, quote units
	NoCost bool    // Cost is not known yet: the position was opened unseen, and nothing was closed since
	Margin Decimal // set aside for an isolated position, without its unrealized PnL, quote units

	// SaidLiquidationPx is the mark at which the position would be liquidated, as the newest
	// anchor of its dex said it, where no public rule tells; else 0.
	SaidLiquidationPx Decimal

	FundingSinceOpen   Decimal // paid less received, quote units
	FundingSinceChange Decimal // likewise, since the last fill

	Opened  int64 // ms of the first fill that is known of it; 0 before any
	Partial bool  // it was opened before that
	Reduced int64 // ms of the last fill that reduced it; 0 before any

	// Of the trade that it will have been, see [CompletedTrade].
	ClosedSize  Decimal
	ClosedValue Decimal // notional of what was closed, quote units
	Pnl, Fee    Decimal
	MaxSize     Decimal
	MaxValue    Decimal
	Fills       int64
	Opening     OrderCount
	Closing     OrderCount
	Liquidated  bool
}

// SpotHolding is what an account holds of a token.
type SpotHolding struct {
	Token string

	// Total lacks the unrealized PnL of the positions that the token stands behind, and has
	// what is set aside for isolated ones.
	Total  Decimal
	Cost   Decimal // what was paid for Total, quote units
	NoCost bool    // Cost is not known yet, as in [OpenPosition]

	// Off is what the venue said to be there before the last fill less what was folded;
	// not 0 while a transfer is to come, or for ever where one was missed. OffSince is
	// the ms since when it has been so.
	Off      Decimal
	OffSince int64

	Lent Decimal // supplied to others; negative is borrowed

	// Backs says that the token stands behind perpetual positions, so that it belongs to the
	// perps of the account: from the first position on, for as long as the mode lasts.
	Backs bool
}

// LedgerUpdate identifies an update of the ledger.
type LedgerUpdate struct {
	Time   int64 // ms
	Digest uint64
}

// OrderCount counts distinct orders by what they executed. An order is known again as
// long as fewer than 16 others executed between two of its fills; else it counts twice.
type OrderCount struct {
	N      int64
	Recent []int64 // order ids, the newest last
}

const recentOrders = 16

// Add takes in an execution of an order.
func (c *OrderCount) Add(oid int64) {
	i := slices.Index(c.Recent, oid)
	switch {
	case i < 0:
		c.N++
		if len(c.Recent) < recentOrders {
			c.Recent = append(c.Recent, oid)
			return
		}
		i = 0
	case i == len(c.Recent)-1:
		return
	}
	copy(c.Recent[i:], c.Recent[i+1:])
	c.Recent[len(c.Recent)-1] = oid
}

// Outcome is what became of an event.
type Outcome uint8

// The outcomes. All but Applied leave the account's figures as they were.
const (
	Applied   Outcome = iota
	Duplicate         // it is in the account already, by itself or by a newer anchor
	Gap               // the position is not the one that it began with: something between is missing
	Late              // it belongs before something that was taken in, and cannot be taken in behind it
	Unknown           // of a market or a kind that is not known; its time and order are noted
)

// String is the outcome for logs and metrics.
func (o Outcome) String() string {
	return [...]string{"applied", "duplicate", "gap", "late", "unknown"}[o]
}

// Holding is what is known of the account in a coin; ok is false where nothing is.
func (a *Account) Holding(coin string) (h Holding, ok bool) {
	if i, found := a.findHolding(coin); found {
		return a.Holdings[i], true
	}
	return Holding{}, false
}

// IsEmpty reports whether nothing was ever in the account as far as is known: the venue
// was asked about it at most, and knew nothing.
func (a *Account) IsEmpty() bool {
	used := func(h Holding) bool { return h.Open != nil || h.Last != Order{} || h.Paid > 0 }
	return !slices.ContainsFunc(a.Holdings, used) && len(a.Spot) == 0 && len(a.Updates) == 0 && a.UpdatesSince == 0 &&
		!slices.ContainsFunc(a.Dexes, func(d DexFunds) bool { return !d.Cash.IsZero() })
}

// Forget drops what is known of the open position in a coin, and begins a new chain
// with its next fill: for who knows that what is missing will not come.
func (a *Account) Forget(coin string) {
	h := a.holding(coin)
	h.Open, h.Began, h.Unsure, h.Gap, h.Late = nil, 0, true, Order{}, false
}

// Clone is a copy that shares nothing that changes with a.
func (a *Account) Clone() *Account {
	b := *a
	b.Dexes = slices.Clone(a.Dexes)
	b.Spot = slices.Clone(a.Spot)
	b.Updates = slices.Clone(a.Updates)
	b.Holdings = slices.Clone(a.Holdings)
	for i := range b.Holdings {
		if open := b.Holdings[i].Open; open != nil {
			copied := *open
			copied.Opening.Recent = slices.Clone(open.Opening.Recent)
			copied.Closing.Recent = slices.Clone(open.Closing.Recent)
			b.Holdings[i].Open = &copied
		}
	}
	return &b
}

// late notes that an event was not taken in.
func (h *Holding) late() Outcome {
	h.Late = true
	return Late
}

// gap notes that an event does not fit.
func (h *Holding) gap(o Order) Outcome {
	if (h.Gap == Order{}) || o.Compare(h.Gap) < 0 {
		h.Gap = o
	}
	return Gap
}

// waits reports whether an event comes behind one that did not fit.
func (h *Holding) waits(o Order) bool {
	return h.Gap != Order{} && o.Compare(h.Gap) > 0 && !o.sameFill(h.Gap)
}

// fits notes that an event was taken in.
func (h *Holding) fits(o Order) {
	if o == h.Gap || o.sameFill(h.Gap) {
		h.Gap = Order{}
	}
}

// sameFill reports whether two orders are those of one fill, which may have another Seq
// where it comes from another source.
func (o Order) sameFill(p Order) bool { return o.Tid != 0 && o.Tid == p.Tid && o.Time == p.Time }

// seen notes that an event of a time was taken in.
func (a *Account) seen(ms int64) {
	if a.Since == 0 || ms < a.Since {
		a.Since = ms
	}
	a.Time = max(a.Time, ms)
}

func (a *Account) findHolding(coin string) (int, bool) {
	return slices.BinarySearchFunc(a.Holdings, coin, func(h Holding, coin string) int { return cmp.Compare(h.Coin, coin) })
}

// holding is the holding in a coin, made where there is none. It is valid until the next
// one is made.
func (a *Account) holding(coin string) *Holding {
	i, ok := a.findHolding(coin)
	if !ok {
		a.Holdings = slices.Insert(a.Holdings, i, Holding{Coin: strings.Clone(coin)})
	}
	return &a.Holdings[i]
}

// dex is the funds in a dex, made where there are none.
func (a *Account) dex(name string) *DexFunds {
	i, ok := slices.BinarySearchFunc(a.Dexes, name, func(d DexFunds, name string) int { return cmp.Compare(d.Dex, name) })
	if !ok {
		a.Dexes = slices.Insert(a.Dexes, i, DexFunds{Dex: strings.Clone(name)})
	}
	return &a.Dexes[i]
}

// token is the holding of a token, made where there is none.
func (a *Account) token(name string) *SpotHolding {
	i, ok := findToken(a.Spot, name)
	if !ok {
		a.Spot = slices.Insert(a.Spot, i, SpotHolding{Token: strings.Clone(name)})
	}
	return &a.Spot[i]
}

func findToken(spot []SpotHolding, name string) (int, bool) {
	return slices.BinarySearchFunc(spot, name, func(t SpotHolding, name string) int { return cmp.Compare(t.Token, name) })
}
