package market

import (
	"cmp"
	"strings"

	"quotary/shared/text/lenient"
)

// depositWallet sends to accounts what was deposited by CCTP.
const depositWallet = "0x6b9e773128f453f5c2c60935ee2de2cbc5390a24"

// isSystemAddress reports whether an address stands for a token on another chain: 0x20 and the
// token's number, or that of HYPE.
func isSystemAddress(address string) bool {
	return address == "0x"+strings.Repeat("2", 40) || strings.HasPrefix(address, "0x20"+strings.Repeat("0", 30))
}

// Route finds out whether a transfer came from outside of the venue or left it, and what it
// moved: Funds, USDC, Fee and Value of it. It changes nothing of other updates.
func (l *Ledger) Route() {
	if l.Type != "spotTransfer" && l.Type != "send" || l.Address == depositWallet || isSystemAddress(l.Address) {
		return
	}
	var d delta
	if lenient.Object(l.Delta, &d) != nil {
		return
	}
	amount, err := ParseDecimal(string(d.Amount))
	if err != nil || amount.IsNeg() {
		return
	}
	from, to := strings.ToLower(d.User), strings.ToLower(d.Destination)
	switch {
	case to == l.Address && (isSystemAddress(from) || from == depositWallet && l.Type == "send"):
		l.Funds = LedgerDeposit
	case from == l.Address && isSystemAddress(to):
		l.Funds = LedgerWithdraw
		if fee, err := ParseDecimal(string(d.Fee)); err == nil && (d.FeeToken == "" || d.FeeToken == USDC) {
			l.Fee = Text(fee)
		}
	default:
		return
	}
	if d.Token == USDC {
		l.USDC = Text(amount)
	} else if value, err := ParseDecimal(string(d.USDCValue)); err == nil {
		l.Value = Text(value)
	}
}

// Worth is what a deposit or withdrawal moved, USDC: of another token as the venue says, else
// at marks. It is false of everything else, and where nobody tells.
func (l *Ledger) Worth(m *Markets, marks Marks) (Decimal, bool) {
	if text := cmp.Or(l.USDC, l.Value); text != "" {
		return mustDecimal(text), true
	}
	var d delta
	if l.Funds == "" || lenient.Object(l.Delta, &d) != nil {
		return Decimal{}, false
	}
	return d.worth(m, marks)
}
