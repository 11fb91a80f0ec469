package market_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
)

func TestPositionsAreLiquidatedWhereTheirMarginIsTheMaintenanceMargin(t *testing.T) {
	t.Parallel()
	var m market.LiquidationModel
	m.Add(&market.LiquidationBucket{Time: 1, High: num("100"), Low: num("100"), Average: num("100"), Turnover: num("10"), Interest: num("1000")})
	m.Add(&market.LiquidationBucket{Time: 2, High: num("100"), Low: num("100"), Average: num("100"), Turnover: num("300"), Interest: num("1100")})
	one := num("1")
	for _, b := range m.Bands(num("0.00000001")) {
		// Margin less loss, as fractions of the value at entry, is the maintenance margin.
		loss := one.Sub(b.From.MustDiv(num("100")))
		if !b.Long {
			loss = b.From.MustDiv(num("100")).Sub(one)
		}
		left := one.MustDiv(num(fmt.Sprint(b.Leverage))).Sub(loss)
		needed := market.MaintenanceShare.Mul(b.From).MustDiv(num("100"))
		if off := left.Sub(needed).Abs(); off.Cmp(num("0.000000001")) > 0 {
			t.Errorf("%+v: %s of the value is left at its price, %s is the maintenance margin", b, left, needed)
		}
	}
	// 300 were traded and 100 more are open: 200 were opened, 100 closed of what was not seen.
	want := map[int64]string{10: "80", 25: "60", 50: "40", 100: "20"}
	bands := m.Bands(num("1"))
	if len(bands) != 8 {
		t.Fatalf("%d bands, 8 wanted: %+v", len(bands), bands)
	}
	for _, b := range bands {
		if !b.Value.Equal(num(want[b.Leverage])) {
			t.Errorf("leverage %d, long %t: %s, %s wanted", b.Leverage, b.Long, b.Value, want[b.Leverage])
		}
	}
}

func TestAPriceThatIsReachedLiquidates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		low, high    string
		longs, short int // bands that are left
	}{
		{"nothing is reached", "99.5", "100.5", 4, 4},
		{"the longs of 100 at their price", "99.39759036", "100", 3, 4},
		{"the longs of 100 just not", "99.39759037", "100", 4, 4},
		{"the shorts of 100 at their price", "100", "100.59760956", 4, 3},
		{"the shorts of 100 just not", "100", "100.59760955", 4, 4},
		{"all longs", "90", "100", 0, 4},
		{"all shorts", "100", "110", 4, 0},
		{"nothing was traded", "0", "0", 4, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var m market.LiquidationModel
			m.Add(&market.LiquidationBucket{Time: 1, Interest: num("1000")})
			m.Add(&market.LiquidationBucket{Time: 2, High: num("100"), Low: num("100"), Average: num("100"), Turnover: num("100"), Interest: num("1100")})
			m.Add(&market.LiquidationBucket{Time: 3, High: num(test.high), Low: num(test.low), Interest: num("1100")})
			longs, shorts := 0, 0
			for _, b := range m.Bands(num("0.1")) {
				if b.Long {
					longs++
				} else {
					shorts++
				}
			}
			if longs != test.longs || shorts != test.short {
				t.Errorf("%d longs and %d shorts are left, %d and %d wanted", longs, shorts, test.longs, test.short)
			}
		})
	}
}

func TestWhatWasOpenedLongerAgoThanTheWindowIsForgotten(t *testing.T) {
	t.Parallel()
	m := market.LiquidationModel{Window: 10}
	m.Add(&market.LiquidationBucket{Time: 1, Interest: num("1000")})
	m.Add(&market.LiquidationBucket{Time: 2, High: num("100"), Low: num("100"), Average: num("100"), Turnover: num("100"), Interest: num("1100")})
	m.Add(&market.LiquidationBucket{Time: 11, Interest: num("1100")})
	if n := len(m.Bands(num("1"))); n != 8 {
		t.Errorf("%d bands inside the window, 8 wanted", n)
	}
	m.Add(&market.LiquidationBucket{Time: 12, Interest: num("1100")})
	if bands := m.Bands(num("1")); len(bands) != 0 {
		t.Errorf("%v are left at the end of the window", bands)
	}
}

// modelPosition is a position of the model written position by position: each opening
// makes two of them for a leverage, which every later bucket may close in part or liquidate.
type modelPosition struct {
	opened   int64
	leverage int64
	long     bool
	px       market.Decimal
	value    market.Decimal
}

func TestTheLiquidationModelEqualsOneOfPositions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := market.LiquidationModel{Window: 20}
		var all []modelPosition
		var before market.Decimal
		for time := range rapid.Int64Range(1, 60).Draw(t, "buckets") {
			low := rapid.Int64Range(80, 120).Draw(t, "low")
			high := low + rapid.Int64Range(0, 10).Draw(t, "range")
			b := market.LiquidationBucket{
				Time: time, Low: whole(low), High: whole(high), Average: whole((low + high) / 2),
				Turnover: whole(rapid.Int64Range(0, 1000).Draw(t, "turnover")), Interest: whole(rapid.Int64Range(0, 2000).Draw(t, "interest")),
			}
			m.Add(&b)
			all = step(all, &b, before, 20)
			before = b.Interest
		}
		sums := map[string]market.Decimal{}
		for _, p := range all {
			key := fmt.Sprint(p.leverage, p.long, p.px.MustDiv(num("0.5")).Floor())
			sums[key] = sums[key].Add(p.value)
		}
		for _, b := range m.Bands(num("0.5")) {
			key := fmt.Sprint(b.Leverage, b.Long, b.From.MustDiv(num("0.5")).Floor())
			if !b.Value.Equal(sums[key]) {
				t.Fatalf("%s is %s, the positions have %s", key, b.Value, sums[key])
			}
			delete(sums, key)
		}
		for key, left := range sums {
			if left.IsPos() {
				t.Fatalf("%s of %s has no band", left, key)
			}
		}
	})
}

// step is what a bucket makes of positions.
func step(all []modelPosition, b *market.LiquidationBucket, before market.Decimal, window int64) []modelPosition {
	known := before.IsPos() && b.Interest.IsPos()
	open, closed := market.Decimal{}, market.Decimal{}
	if known {
		// Either all of the change is explained by the turnover, or everything was opened or closed.
		change := b.Interest.Sub(before)
		switch {
		case change.Cmp(b.Turnover) > 0:
			open = b.Turnover
		case change.Neg().Cmp(b.Turnover) > 0:
			closed = b.Turnover
		default:
			open, closed = b.Turnover.Add(change).MustDiv(whole(2)), b.Turnover.Sub(change).MustDiv(whole(2))
		}
		if open.Cmp(b.Interest) > 0 { // the rest was closed at once
			open = b.Interest
		}
	}
	kept := all[:0]
	for _, p := range all {
		if p.opened <= b.Time-window || p.long && b.Low.Cmp(p.px) <= 0 || !p.long && b.High.Cmp(p.px) >= 0 {
			continue
		}
		if known {
			if closed.Cmp(before) >= 0 {
				continue
			}
			p.value = p.value.Mul(before.Sub(closed)).MustDiv(before).RoundHAZ(2)
		}
		kept = append(kept, p)
	}
	for _, share := range market.LiquidationLeverages {
		if !open.IsPos() {
			break
		}
		l := whole(share.Leverage)
		value := open.Mul(whole(share.Percent)).MustDiv(whole(100)).RoundHAZ(2)
		margin, one := whole(1).MustDiv(l), whole(1)
		kept = append(kept,
			modelPosition{b.Time, share.Leverage, true, b.Average.Mul(one.Sub(margin)).MustDiv(one.Sub(market.MaintenanceShare)).RoundHAZ(8), value},
			modelPosition{b.Time, share.Leverage, false, b.Average.Mul(one.Add(margin)).MustDiv(one.Add(market.MaintenanceShare)).RoundHAZ(8), value},
		)
	}
	return kept
}

func whole(n int64) market.Decimal { return num(fmt.Sprint(n)) }

func TestBandWidthsSuitThePrice(t *testing.T) {
	t.Parallel()
	tests := map[string]string{"98000": "100", "100000": "100", "100001": "200", "3400": "5", "185": "0.2", "1": "0.001", "0.25": "0.0005", "0.0125": "0.00002", "0.00001": "0.00000001"}
	for px, want := range tests {
		if got := market.BandWidth(num(px)); !got.Equal(num(want)) {
			t.Errorf("bands at %s are %s wide, %s wanted", px, got, want)
		}
	}
}

// Whatever an exchange says of prices, sizes and open interest, there are bands.
func TestBandsOfTheLeastAndTheLargestFigures(t *testing.T) {
	t.Parallel()
	figures := []market.Decimal{{}, num("0.0000000000000000001"), num("0.01"), num("1"), num("99999999999999999999999999999999999999999999999")}
	for _, px := range figures {
		for _, size := range figures {
			for _, interest := range figures {
				for _, next := range figures {
					candles := []market.Candle{
						{OpenTime: 0, High: px, Low: px, Size: size, Amount: market.Notional(px, size)}, {OpenTime: 1, High: num("1"), Low: num("1"), Size: num("1"), Amount: num("1")},
						{OpenTime: 2, High: size, Low: px, Size: px, Amount: size},
					}
					bars := []market.Bar{{Time: 0, Close: interest}, {Time: 1, Close: next}, {Time: 2, Close: num("5")}}
					m := new(market.LiquidationModel)
					for _, b := range market.LiquidationBuckets(candles, bars, 0, 2, 1) {
						m.Add(&b)
						m.Placed()
						for _, width := range figures[1:] {
							for _, band := range m.Bands(market.BandWidth(width)) {
								if band.From.IsNeg() || band.From.Cmp(band.To) >= 0 || !band.Value.IsPos() {
									t.Errorf("of %s, %s, %s and %s: %+v", px, size, interest, next, band)
								}
							}
						}
					}
				}
			}
		}
	}
}
