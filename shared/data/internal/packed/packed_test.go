package packed

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number, count := rapid.Int64().Draw(t, "number"), rapid.Uint64().Draw(t, "count")
		text, is := rapid.String().Draw(t, "text"), rapid.Bool().Draw(t, "is")
		decimal := markettest.Amount().Draw(t, "decimal")
		var w Writer
		w.Int(number)
		w.Uint(count)
		w.Text(text)
		w.Bool(is)
		w.Decimal(decimal)
		r := Reader{B: w.B}
		if got := r.Int(); got != number {
			t.Errorf("%d, want %d", got, number)
		}
		if got := r.Uint(); got != count {
			t.Errorf("%d, want %d", got, count)
		}
		if got := r.Text(); got != text {
			t.Errorf("%q, want %q", got, text)
		}
		if got := r.Bool(); got != is {
			t.Errorf("%t, want %t", got, is)
		}
		if got := r.Decimal(); !got.Equal(decimal) {
			t.Errorf("%s, want %s", got, decimal)
		}
		if !r.Done() {
			t.Errorf("%+v is not done", r)
		}
	})
}

func TestEqualDecimalsAreTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{{"0", "0.000", "-0.0"}, {"12.5", "12.500"}, {"-3", "-3.0"}, {"123456789012345678901.5", "123456789012345678901.5000"}} {
		var first []byte
		for _, text := range same {
			d := must.Get(market.ParseDecimal(text))(t)
			var w Writer
			w.Decimal(d)
			if first == nil {
				first = w.B
			}
			if !bytes.Equal(w.B, first) {
				t.Errorf("%s: % x, want % x", text, w.B, first)
			}
		}
	}
}

// Whatever the bytes are, reading them ends, and never reads more than there is.
func FuzzRead(f *testing.F) {
	f.Add([]byte{0x80}, byte(1))
	f.Add([]byte{0xc0, 0x03, '1', '.', '5'}, byte(3))
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		r := Reader{B: b}
		for before := len(r.B) + 1; !r.Broken && len(r.B) > 0 && len(r.B) < before; {
			before = len(r.B)
			switch kind % 4 {
			case 0:
				r.Int()
			case 1:
				if n := r.Length(2); n > before {
					t.Errorf("%d of %d bytes", n, before)
				}
			case 2:
				r.Decimal()
			default:
				r.Text()
			}
		}
		if r.Broken && (len(r.B) > 0 || r.Uint() != 0 || r.Text() != "" || !r.Decimal().IsZero()) {
			t.Errorf("a broken reader reads on: %+v", r)
		}
	})
}
