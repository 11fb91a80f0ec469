package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// mostPortfolioPoints bounds the points of a window of a portfolio: the venue tells some 80.
const mostPortfolioPoints = 500

// portfolioWindow is a window of a portfolio.
type portfolioWindow struct {
	Values []portfolioPoint `json:"accountValueHistory"`
	Pnls   []portfolioPoint `json:"pnlHistory"`
	Volume amount           `json:"vlm"`
}

type portfolioPoint struct {
	ms    int64
	value amount
}

// UnmarshalJSON reads [ms, value].
func (p *portfolioPoint) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[2]any{&p.ms, &p.value})
}

var errPortfolio = errors.New("a portfolio that cannot be read")

// ParsePortfolio reads what the venue says that an account was worth, as the answer to
// portfolio: of its windows, which all end now, the points of the shortest that has a time.
// What came in is value less profit, 0 at the end.
func ParsePortfolio(raw []byte) (v market.VenueCurve, err error) {
	var windows [][2]json.RawMessage
	if err := json.Unmarshal(raw, &windows); err != nil {
		return v, fmt.Errorf("read a portfolio: %w", err)
	}
	byName := map[string]portfolioWindow{}
	for _, one := range windows[:min(len(windows), 8)] {
		var name string
		var w portfolioWindow
		if json.Unmarshal(one[0], &name) != nil {
			continue
		}
		if err := lenient.Object(one[1], &w); err != nil || len(w.Values) > mostPortfolioPoints || len(w.Values) != len(w.Pnls) {
			return market.VenueCurve{}, fmt.Errorf("window %.20q of %d and %d points: %w", name, len(w.Values), len(w.Pnls), errPortfolio)
		}
		byName[name] = w
	}
	v.All = joinWindows(byName["allTime"], byName["month"], byName["week"], byName["day"])
	v.Perp = joinWindows(byName["perpAllTime"], byName["perpMonth"], byName["perpWeek"], byName["perpDay"])
	v.Volume, v.PerpVolume = market.MicrosOf(byName["allTime"].Volume.Decimal), market.MicrosOf(byName["perpAllTime"].Volume.Decimal)
	for _, list := range [...][]market.AccountValue{v.All, v.Perp} {
		if n := len(list); n > 0 {
			v.Until = max(v.Until, list[n-1].Time)
		}
	}
	if v.Until == 0 {
		return market.VenueCurve{}, fmt.Errorf("no points: %w", errPortfolio)
	}
	return v, nil
}

// joinWindows joins windows, the longest first: from where a shorter one begins it has its
// points.
func joinWindows(windows ...portfolioWindow) (joined []market.AccountValue) {
	for i := range windows {
		w := &windows[i]
		var list []market.AccountValue
		for k, p := range w.Values {
			pnl := w.Pnls[k]
			if p.ms != pnl.ms || p.ms <= 0 || p.ms > market.MaxTime || !p.value.known || !pnl.value.known || len(list) > 0 && p.ms <= list[len(list)-1].Time {
				continue
			}
			value := market.MicrosOf(p.value.Decimal)
			list = append(list, market.AccountValue{Time: p.ms, Value: value, NetIn: value - market.MicrosOf(pnl.value.Decimal)})
		}
		if len(list) == 0 {
			continue
		}
		last := list[len(list)-1].NetIn
		for k := range list {
			list[k].NetIn = (list[k].NetIn - last).Held()
		}
		from, _ := slices.BinarySearchFunc(joined, list[0].Time, func(v market.AccountValue, ms int64) int { return cmp.Compare(v.Time, ms) })
		joined = append(joined[:from], list...)
	}
	return joined
}
