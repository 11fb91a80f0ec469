package market

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"quotary/shared/text/lenient"
)

// keptUpdates is how many ledger updates an account remembers, and all of the newest
// millisecond.
const keptUpdates = 8

// delta is what a ledger update says, over all kinds. A name of another type is none.
type delta struct {
	USDC            lenient.Text    `json:"usdc"`
	Fee             lenient.Text    `json:"fee"`
	FeeToken        string          `json:"feeToken"`
	NativeTokenFee  lenient.Text    `json:"nativeTokenFee"`
	User            string          `json:"user"`
	Destination     string          `json:"destination"`
	ToPerp          json.RawMessage `json:"toPerp"`
	Dex             string          `json:"dex"`
	SourceDex       string          `json:"sourceDex"`
	DestinationDex  string          `json:"destinationDex"`
	Token           string          `json:"token"`
	Amount          lenient.Text    `json:"amount"`
	USDCValue       lenient.Text    `json:"usdcValue"`
	IsDeposit       json.RawMessage `json:"isDeposit"`
	Vault           string          `json:"vault"`
	Commission      lenient.Text    `json:"commission"`
	Operation       string          `json:"operation"`
	InterestAmount  lenient.Text    `json:"interestAmount"`
	NetWithdrawnUsd lenient.Text    `json:"netWithdrawnUsd"`
}

// Ledger takes in an update of the account's ledger. A part of it that a newer anchor
// has already is left out. It is Late when it may be one of those that were forgotten.
func (a *Account) Ledger(l *Ledger, m *Markets, marks Marks) Outcome {
	if l.Time < a.UpdatesSince {
		return Late
	}
	update := LedgerUpdate{l.Time, digest(l)}
	if slices.Contains(a.Updates, update) {
		return Duplicate
	}
	a.remember(update)
	if a.Address == "" {
		a.Address = strings.Clone(l.Address)
	}
	a.seen(l.Time)
	outcome := a.ledger(l, moves{account: a, markets: m, marks: marks, ms: l.Time})
	if outcome == Unknown && !a.isToldAt(l.Time) {
		a.loseFunds(l.Time)
	}
	return outcome
}

// isToldAt reports whether the venue has said all that the account has at a time or later.
func (a *Account) isToldAt(ms int64) bool {
	return a.SpotTime >= ms && a.Anchored >= ms && !slices.ContainsFunc(a.Dexes, func(d DexFunds) bool { return d.Anchored < ms })
}

// remember keeps an update; what is forgotten is forgotten by whole milliseconds. Those of
// one millisecond are kept in one order, whichever they came in.
func (a *Account) remember(update LedgerUpdate) {
	at, _ := slices.BinarySearchFunc(a.Updates, update, func(u, v LedgerUpdate) int {
		return cmp.Or(cmp.Compare(u.Time, v.Time), cmp.Compare(u.Digest, v.Digest))
	})
	a.Updates = slices.Insert(a.Updates, at, update)
	oldest := a.Updates[0].Time
	if len(a.Updates) <= keptUpdates || oldest == a.Updates[len(a.Updates)-1].Time {
		return
	}
	a.UpdatesSince = oldest + 1
	a.Updates = slices.DeleteFunc(a.Updates, func(u LedgerUpdate) bool { return u.Time == oldest })
}

func digest(l *Ledger) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, l.Hash+"#"+l.Type+"#")
	_, _ = h.Write(l.Delta)
	return h.Sum64()
}

// ledger moves what an update moves. The kinds are those of the venue's
// userNonFundingLedgerUpdates; of one that is not known, nobody tells what it moves, nor of
// activateDexAbstraction, from where the money of a dex comes.
func (a *Account) ledger(l *Ledger, move moves) Outcome {
	var d delta
	if lenient.Object(l.Delta, &d) != nil {
		return Unknown
	}
	// An update of a transfer is in the ledgers of both sides.
	from, to := sameAddress(d.User, l.Address), sameAddress(d.Destination, l.Address)
	ofVault := sameAddress(d.Vault, l.Address)
	usdc, amount, fee, native := move.amount(d.USDC), move.amount(d.Amount), move.amount(d.Fee), move.amount(d.NativeTokenFee)
	net, commission, interest := move.amount(d.NetWithdrawnUsd), move.amount(d.Commission), move.amount(d.InterestAmount)
	toPerp, isDeposit := move.flag(d.ToPerp), move.flag(d.IsDeposit)
	value, _ := d.worth(move.markets, move.marks)
	if move.wrong || usdc.IsNeg() || amount.IsNeg() || !d.tells(l.Type, from || to) {
		return Unknown
	}
	switch l.Type {
	case LedgerDeposit:
		move.usdc(usdc)
	case LedgerWithdraw:
		move.usdc(usdc.Add(fee).Neg())
	case "accountClassTransfer":
		move.usdc(signed(usdc, toPerp))
		move.spot(USDC, signed(usdc, !toPerp), signed(usdc, !toPerp))
	case "perpDexClassTransfer":
		move.perp(d.Dex, signed(amount, toPerp), signed(value, toPerp))
		move.spot(d.Token, signed(amount, !toPerp), signed(value, !toPerp))
	case "internalTransfer", "subAccountTransfer":
		if from {
			move.usdc(usdc.Add(fee).Neg())
		}
		if to {
			move.usdc(usdc)
		}
	case "spotTransfer":
		d.SourceDex, d.DestinationDex = spotDex, spotDex
		fallthrough
	case "send":
		if from {
			move.send(d.SourceDex, d.Token, amount.Neg(), value.Neg())
			move.spot(hype, native.Neg(), Decimal{}) // gas; what it is worth is not said
			if d.FeeToken == "" {
				d.FeeToken = USDC
			}
			charged := Decimal{} // what other tokens are worth is not said
			if d.FeeToken == USDC {
				charged = fee.Neg()
			}
			move.send(d.SourceDex, d.FeeToken, fee.Neg(), charged)
		}
		if to {
			move.send(d.DestinationDex, d.Token, amount, value)
		}
	case "vaultCreate", "vaultDeposit":
		if ofVault {
			move.usdc(usdc)
		} else {
			move.usdc(usdc.Add(fee).Neg())
		}
	case "vaultWithdraw":
		if ofVault {
			move.usdc(net.Add(commission).Neg())
		} else {
			move.usdc(net)
		}
	case "vaultDistribution":
		move.usdc(signed(usdc, !ofVault))
	case "vaultLeaderCommission":
		move.usdc(usdc)
	case "rewardsClaim":
		if d.Token == "" || d.Token == USDC {
			move.usdc(amount)
		} else {
			move.spot(d.Token, amount, value)
		}
	case "spotGenesis":
		move.spot(d.Token, amount, value)
	case "cStakingTransfer":
		move.spot(d.Token, signed(amount, !isDeposit), signed(value, !isDeposit))
	case "deployGasAuction", "accountActivationGas":
		move.spot(d.Token, amount.Neg(), value.Neg())
	case "borrowLend":
		return move.lend(d.Operation, d.Token, amount, interest)
	case "liquidation": // what it costs is in the fills
	default:
		return Unknown
	}
	return Applied
}

// tells reports whether an update of a known type has what it takes to know what it moves: an
// amount, the token or the direction of it, and the account on one of its sides.
func (d *delta) tells(kind string, ofSide bool) bool {
	switch kind {
	case LedgerDeposit, LedgerWithdraw, "vaultCreate", "vaultDeposit", "vaultDistribution", "vaultLeaderCommission":
		return d.USDC != ""
	case "accountClassTransfer":
		return d.USDC != "" && told(d.ToPerp)
	case "internalTransfer", "subAccountTransfer":
		return d.USDC != "" && ofSide
	case "perpDexClassTransfer":
		return d.Amount != "" && d.Token != "" && told(d.ToPerp)
	case "spotTransfer", "send":
		return d.Amount != "" && d.Token != "" && ofSide
	case "vaultWithdraw":
		return d.NetWithdrawnUsd != ""
	case "rewardsClaim":
		return d.Amount != ""
	case "spotGenesis", "deployGasAuction", "accountActivationGas", "borrowLend":
		return d.Amount != "" && d.Token != ""
	case "cStakingTransfer":
		return d.Amount != "" && d.Token != "" && told(d.IsDeposit)
	}
	return true
}

func told(flag json.RawMessage) bool { return len(flag) > 0 && string(flag) != "null" }

// worth is what the amount of the token is worth, USDC: as the update says, else at marks. It
// is false where neither tells.
func (d *delta) worth(m *Markets, marks Marks) (Decimal, bool) {
	if value, err := ParseDecimal(string(d.USDCValue)); err == nil && !value.IsNeg() && d.Token != USDC {
		return value, true
	}
	amount, err := ParseDecimal(string(d.Amount))
	if err != nil {
		return Decimal{}, false
	}
	return m.Worth(d.Token, amount, marks)
}

// hype is the token that pays for gas.
const hype = "HYPE"

// spotDex is the name by which transfers call an account's spot part.
const spotDex = "spot"

// moves books what one ledger update moves.
type moves struct {
	account *Account
	markets *Markets
	marks   Marks
	ms      int64
	wrong   bool // an amount is no decimal, or a flag none
}

// amount reads a decimal; an absent one is 0.
func (m *moves) amount(text lenient.Text) Decimal {
	if text == "" {
		return Decimal{}
	}
	d, err := ParseDecimal(string(text))
	m.wrong = m.wrong || err != nil
	return d
}

// flag reads true or false; an absent one is false.
func (m *moves) flag(text json.RawMessage) bool {
	switch string(text) {
	case "true":
		return true
	case "false", "null", "":
	default:
		m.wrong = true
	}
	return false
}

// usdc adds an amount to the cash of the main dex.
func (m *moves) usdc(amount Decimal) { m.perp("", amount, amount) }

// perp adds an amount of its collateral that is worth value in USDC to the cash of a dex, or
// to the balance that is in its place.
func (m *moves) perp(name string, amount, value Decimal) {
	a := m.account
	if a.Mode.Joint() {
		token, ok := m.markets.collateral(name)
		switch {
		case ok:
			m.spot(token, amount, value)
		case m.ms > a.SpotTime:
			a.loseFunds(m.ms)
			fallthrough
		default:
			a.NetPerp = a.NetPerp.Add(value)
		}
		return
	}
	a.NetPerp = a.NetPerp.Add(value)
	if dex := a.dex(name); m.ms > dex.Anchored {
		dex.Cash = dex.Cash.Add(amount)
	}
}

// spot adds an amount of a token that is worth value in USDC.
func (m *moves) spot(token string, amount, value Decimal) {
	a := m.account
	if a.backs(token) {
		a.NetPerp = a.NetPerp.Add(value)
	} else {
		a.NetSpot = a.NetSpot.Add(value)
	}
	if token == "" || m.ms <= a.SpotTime {
		return
	}
	a.move(token, amount)
}

// send adds an amount of a token to one of the account's dexes or to its spot part, in which
// is what is no collateral of the dex, and all where balances stand behind positions.
func (m *moves) send(dex, token string, amount, value Decimal) {
	collateral, ok := m.markets.collateral(dex)
	if dex == spotDex || m.account.Mode.Joint() || ok && token != "" && token != collateral {
		m.spot(token, amount, value)
	} else {
		m.perp(dex, amount, value)
	}
}

// lend moves an amount of a token between its balance and what is lent of it. What was lent has
// grown by its interest before.
func (m *moves) lend(operation, token string, amount, interest Decimal) Outcome {
	a := m.account
	switch operation {
	case "supply", "repay":
		amount = amount.Neg()
	case "withdraw", "borrow":
	default:
		return Unknown
	}
	if operation == "borrow" || operation == "repay" {
		interest = interest.Neg()
	}
	if m.ms > a.SpotTime {
		a.move(token, amount)
		t := a.token(token)
		t.Lent = t.Lent.Add(interest).Sub(amount)
		t.NoCost = t.NoCost || amount.IsPos() // nobody tells what it costs that comes back
	}
	return Applied
}

func signed(d Decimal, plus bool) Decimal {
	if plus {
		return d
	}
	return d.Neg()
}

func sameAddress(a, b string) bool { return strings.EqualFold(a, b) }
