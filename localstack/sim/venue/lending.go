package venue

// Borrowing and lending of accounts under portfolio margin. What is lent comes out of the
// venue's pool and goes into it. Interest is booked by the next update of the token.

const (
	yearMs       = 365 * 86_400_000
	supplyYearly = 300 // interest in hundredths of a percent
	borrowYearly = 900
)

// loan is what an account supplies or borrows of a token, in hundred-millionths; never both.
type loan struct {
	Supplied, Borrowed int64
	Since              int64 // ms until which interest is booked
}

// lent is what an account supplies of a token, negative when it borrows.
func (a *account) lent(t int) int64 {
	if t >= len(a.Loans) {
		return 0
	}
	return a.Loans[t].Supplied - a.Loans[t].Borrowed
}

// borrowLend carries out an operation of an account. The interest since the last one is
// booked first.
func (e *engine) borrowLend(u, t int, operation string, amount int64) {
	a := &e.Acc[u]
	if a.Loans == nil {
		a.Loans = make([]loan, len(e.tokens))
	}
	l := &a.Loans[t]
	elapsed := e.ms() - l.Since
	earned := mulDivDown(l.Supplied, elapsed*supplyYearly, yearMs*10_000)
	owed := mulDivDown(l.Borrowed, elapsed*borrowYearly, yearMs*10_000)
	l.Supplied += earned
	l.Borrowed += owed
	l.Since = e.ms()
	e.Interest[t] += earned - owed
	interest := earned + owed
	switch operation {
	case "supply":
		l.Supplied += amount
		amount = -amount
	case "withdraw":
		amount = min(amount, l.Supplied)
		l.Supplied -= amount
	case "borrow":
		l.Borrowed += amount
	case "repay":
		amount = min(amount, l.Borrowed)
		l.Borrowed -= amount
		amount = -amount
	}
	a.Tok[t] += amount
	e.Pool[t] -= amount
	e.ledger([]int{u}, object(nil).text("type", "borrowLend").text("token", e.tokens[t].name).
		text("operation", operation).num("amount", abs(amount), 8).num("interestAmount", interest, 8).end())
}

// lend has an account under portfolio margin supply or borrow something, or end that.
func (e *engine) lend(u int) bool {
	t := [...]int{0, 0, hype, usdh}[e.Rng.n(4)]
	for owed := range e.tokens { // debts first, where there is something to pay them with
		if e.Acc[u].lent(owed) < 0 && e.spotFree(u, owed) > 0 {
			t = owed
		}
	}
	some := max(0, e.spotFree(u, t)) / e.Rng.between(3, 8)
	switch lent := e.Acc[u].lent(t); {
	case lent > 0 && e.Rng.percent(60):
		e.borrowLend(u, t, "withdraw", lent/e.Rng.between(1, 2))
	case lent < 0 && some > 0:
		e.borrowLend(u, t, "repay", min(-lent, e.spotFree(u, t)))
	case lent >= 0 && some > spotUnit && e.Rng.percent(60):
		e.borrowLend(u, t, "supply", some)
	case lent <= 0 && e.free(u, 0) > 500*usd:
		unit := max(1, e.worth(t, spotUnit))
		e.borrowLend(u, t, "borrow", mulDivDown(e.free(u, 0)/10, spotUnit, unit))
	default:
		return false
	}
	return true
}

// coverDebts lets accounts under portfolio margin take back or borrow what losses have left
// them short of.
func (e *engine) coverDebts() {
	for u := range e.Acc {
		a := &e.Acc[u]
		if a.Mode != modePortfolio {
			continue
		}
		for t := range a.Tok {
			for short := -a.Tok[t]; short > 0; short = -a.Tok[t] {
				e.action()
				if e.Acc[u].lent(t) > 0 {
					e.borrowLend(u, t, "withdraw", short)
				} else {
					e.borrowLend(u, t, "borrow", short)
				}
			}
		}
	}
}
