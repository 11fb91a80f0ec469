package market

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"quotary/shared/text/visible"
)

// MaxTime is the last ms that has 13 digits (in the year 2286); rows are
// ordered by times of that width.
const MaxTime = 9_999_999_999_999

// Check says what makes f impossible, and brings addresses to lower case. What the venue
// may leave out and is impossible is left out of f, and costs no more. What Check accepts
// can be stored, and none of f's methods fails on it.
func (f *Fill) Check() error {
	var ok bool
	if f.Address, ok = ParseAddress(f.Address); !ok {
		return fmt.Errorf("%.60q is no address", f.Address)
	}
	if !ValidCoin(f.Coin) {
		return fmt.Errorf("%.80q is no coin", f.Coin)
	}
	if f.Side != Buy && f.Side != Sell {
		return errors.New("side is neither A nor B")
	}
	if f.Time <= 0 || f.Time > MaxTime {
		return fmt.Errorf("time %d is no time in ms", f.Time)
	}
	if err := CheckQuantity(f.Px, f.Sz); err != nil {
		return err
	}
	amounts := []string{f.StartPosition, f.ClosedPnl, f.Fee}
	if f.Provisional {
		amounts = nil
		*f = f.public()
	}
	for _, s := range amounts {
		if _, ok := decimalPlaces(s); !ok {
			return fmt.Errorf("%.60q %w", s, errDecimal)
		}
	}
	for _, s := range [...]*string{&f.Dir, &f.Hash, &f.FeeToken} {
		if len(*s) > maxText {
			return fmt.Errorf("dir, hash or feeToken is longer than %d bytes", maxText)
		}
		*s = visible.Line(*s)
	}
	f.dropImpossible()
	return nil
}

// maxText bounds the texts that are kept, in bytes: the longest of
// the venue is a hash of 66.
const maxText = 256

// dropImpossible leaves out of f what the venue may leave out and is impossible.
func (f *Fill) dropImpossible() {
	f.Cloid, f.Builder, f.BuilderFee = shortText(f.Cloid), addressOrNone(f.Builder), decimalOrNone(f.BuilderFee)
	if l := f.Liquidation; l != nil {
		l.LiquidatedUser, l.MarkPx, l.Method = addressOrNone(l.LiquidatedUser), decimalOrNone(l.MarkPx), shortText(l.Method)
	}
}

// shortText is a text as it is shown, "" where it is too long.
func shortText(s string) string {
	if len(s) > maxText {
		return ""
	}
	return visible.Line(s)
}

func addressOrNone(s string) string {
	if address, ok := ParseAddress(s); ok {
		return address
	}
	return ""
}

func decimalOrNone(s string) string {
	if _, ok := decimalPlaces(s); ok {
		return s
	}
	return ""
}

// CheckQuantity reports whether px and sz are decimals, not negative, whose
// product is exact.
func CheckQuantity(px, sz string) error {
	p, ok := decimalPlaces(px)
	if !ok || px[0] == '-' {
		return fmt.Errorf("px %.60q %w", px, errDecimal)
	}
	s, ok := decimalPlaces(sz)
	if !ok || sz[0] == '-' {
		return fmt.Errorf("sz %.60q %w", sz, errDecimal)
	}
	if p+s > maxPlaces {
		return fmt.Errorf("px %.60q and sz %.60q have more than %d decimal places together", px, sz, maxPlaces)
	}
	return nil
}

// MaxName is how long whatever an upstream names may be, in bytes: a coin, a symbol, a dex.
const MaxName = 64

// ValidName reports whether s can name what an upstream names: 1 to [MaxName] bytes of a
// visible name, without what stands for characters that were none. Names become parts of keys,
// and are remembered.
func ValidName(s string) bool {
	return s != "" && len(s) <= MaxName && visible.Name(s) && !strings.ContainsRune(s, utf8.RuneError)
}

// ValidCoin reports whether s can be a coin.
func ValidCoin(s string) bool { return ValidName(s) }

// ParseAddress reads 0x and 40 hexadecimal digits, and returns them in lower
// case.
func ParseAddress(s string) (string, bool) {
	if len(s) != 42 || s[0] != '0' || s[1] != 'x' {
		return s, false
	}
	upper := false
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		case c >= 'A' && c <= 'F':
			upper = true
		default:
			return s, false
		}
	}
	if !upper {
		return s, true
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'F' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b), true
}

// Tidy leaves out of l what the venue may leave out and is impossible: its hash.
func (l *Ledger) Tidy() { l.Hash = shortText(l.Hash) }

// Tidy leaves out of t what the venue may leave out and is impossible: its hash and its users.
func (t *Trade) Tidy() {
	t.Hash = shortText(t.Hash)
	for i := range t.Users {
		t.Users[i] = addressOrNone(t.Users[i])
	}
}
