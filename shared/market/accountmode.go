package market

import "slices"

// Mode is how the money of an account stands behind its positions. The venue answers it to
// userAbstraction; no event tells of a change.
type Mode uint8

// The modes.
const (
	ModeUnknown   Mode = iota // the venue has not said it yet
	ModeStandard              // each dex has cash of its own, apart from the spot balances: "default", "disabled"
	ModeUnified               // the spot balance of a token stands behind the positions of all dexes whose collateral it is: "unifiedAccount"
	ModePortfolio             // likewise, and tokens stand behind each other, by rules that no public answer gives: "portfolioMargin"
	ModeOther                 // another one, of which nobody tells how it counts, such as "dexAbstraction"
)

// ParseMode reads a mode as the venue writes it. One that is not known is [ModeOther].
func ParseMode(text string) Mode {
	switch text {
	case "default", "disabled":
		return ModeStandard
	case "unifiedAccount":
		return ModeUnified
	case "portfolioMargin":
		return ModePortfolio
	}
	return ModeOther
}

// Joint reports whether spot balances stand behind positions.
func (m Mode) Joint() bool { return m == ModeUnified || m == ModePortfolio }

// Explained reports whether it is known how the account's money stands behind its positions.
func (m Mode) Explained() bool { return m == ModeStandard || m.Joint() }

// book moves the money behind the positions of a dex, units of its collateral: free is what
// it grows by, and set what the margins of isolated positions do. The cash of a dex lacks
// those margins; a balance has them.
func (a *Account) book(dex *DexFunds, m *Markets, ms int64, free, set Decimal) {
	if !a.Mode.Joint() {
		dex.Cash = dex.Cash.Add(free)
		return
	}
	if ms <= a.SpotTime {
		return // the balances have it
	}
	token, ok := m.collateral(dex.Dex)
	if !ok {
		a.loseFunds(ms)
		return
	}
	a.move(token, free.Add(set))
}

// loseFunds notes that the cash and balances of the account are not known any more from a time
// on, until the venue says them.
func (a *Account) loseFunds(ms int64) { a.SpotTime, a.Anchored, a.Lost = 0, 0, max(a.Lost, ms) }

// outdate forgets what only the venue knows and has said: it is of other positions. Where it
// has said nothing since the last time there is nothing to do: it says all with Posted.
func (a *Account) outdate() {
	said := false
	for i := range a.Dexes {
		said = said || a.Dexes[i].Posted != nil
		a.Dexes[i].Posted = nil
	}
	if !said {
		return
	}
	for i := range a.Holdings {
		if open := a.Holdings[i].Open; open != nil {
			open.SaidLiquidationPx = Decimal{}
		}
	}
}

// back lets the collateral of a dex stand behind positions from now on, if it is a balance:
// then it comes into the perps of the account with all there is of it.
func (a *Account) back(dex string, m *Markets, marks Marks) {
	if !a.Mode.Joint() {
		return
	}
	token, ok := m.collateral(dex)
	if !ok || a.backs(token) {
		return
	}
	t := a.token(token)
	t.Backs = true
	a.exchange(token, t.Total.Add(t.Lent), m, marks)
}

// backs reports whether a token belongs to the perps of the account: USDC always does where
// spot balances stand behind positions.
func (a *Account) backs(token string) bool {
	if !a.Mode.Joint() {
		return false
	}
	at, ok := findToken(a.Spot, token)
	return token == USDC || ok && a.Spot[at].Backs
}

// exchange counts what came into the perps of the account out of its spot part, or the other
// way when negative, at what it is worth now. Without a mark it is worth nothing.
func (a *Account) exchange(token string, amount Decimal, m *Markets, marks Marks) {
	worth, _ := m.Worth(token, amount, marks)
	a.NetPerp, a.NetSpot = a.NetPerp.Add(worth), a.NetSpot.Sub(worth)
}

// setMode takes over a mode that the venue has said. What was known in another one is not
// known any more, until the venue says it.
func (a *Account) setMode(mode Mode) (changed bool) {
	if mode == ModeUnknown || mode == a.Mode {
		return false
	}
	first := a.Mode == ModeUnknown
	a.Mode, a.SpotTime = mode, 0
	a.outdate()
	for i := range a.Dexes {
		d := &a.Dexes[i]
		d.Cash = Decimal{}
		if !mode.Joint() { // else there is nothing in it but positions, which are what they were
			d.Anchored = 0
		}
	}
	for i := range a.Spot {
		a.Spot[i].Backs = false
	}
	return !first
}

// ContinueMode takes over the mode of what is made again, and which of its tokens stand
// behind positions: no event tells it.
func (a *Account) ContinueMode(of *Account) {
	a.setMode(of.Mode)
	for i := range of.Spot {
		if of.Spot[i].Backs {
			a.token(of.Spot[i].Token).Backs = true
		}
	}
}

// collateralSums are sums over the open positions of an account with one collateral, units
// of it.
type collateralSums struct {
	token       string
	unrealized  Decimal
	isolated    Decimal // value of the isolated ones, with their margins
	used        Decimal // value of the isolated ones and initial margin of the others
	maintenance Decimal // of those that are not isolated
}

// sums are those of all collaterals that have positions; ok is false where that of a dex is
// not known.
func (a *Account) sums(m *Markets, marks Marks) (sums []collateralSums, ok bool) {
	ok = true
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if h.Open == nil {
			continue
		}
		token, known := m.collateral(DexOf(h.Coin))
		if !known {
			ok = false
			continue
		}
		at := slices.IndexFunc(sums, func(s collateralSums) bool { return s.token == token })
		if at < 0 {
			at, sums = len(sums), append(sums, collateralSums{token: token})
		}
		v, s := value(h, m, marks), &sums[at]
		s.unrealized, s.used = s.unrealized.Add(v.unrealized), s.used.Add(v.used)
		if v.isolated {
			s.isolated = s.isolated.Add(v.used)
		} else {
			s.maintenance = s.maintenance.Add(v.perp.Tiers.Maintenance(v.notional))
		}
	}
	return sums, ok
}

// sumsOf are the sums of one of them.
func sumsOf(sums []collateralSums, token string) collateralSums {
	if at := slices.IndexFunc(sums, func(s collateralSums) bool { return s.token == token }); at >= 0 {
		return sums[at]
	}
	return collateralSums{token: token}
}

// lent is what is supplied of a token; negative is borrowed.
func (a *Account) lent(token string) Decimal {
	if at, ok := findToken(a.Spot, token); ok {
		return a.Spot[at].Lent
	}
	return Decimal{}
}

// total is the balance of a token, without what is lent.
func (a *Account) total(token string) Decimal {
	if at, ok := findToken(a.Spot, token); ok {
		return a.Spot[at].Total
	}
	return Decimal{}
}
