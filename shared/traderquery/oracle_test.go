package traderquery_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"quotary/shared/catalog"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
)

// figure is what a name means of a trader, read by hand from the rules and not from the package.
type figure struct {
	field  *traderfields.Field
	period traderfields.Period
}

func (f figure) of(t *traders.Trader) (market.Decimal, bool) {
	units, known := f.field.Figure(&t.Trader, f.period)
	return f.field.Decimal(units), known
}

// name draws a name that may be asked for while periods are in force, the last of which counts.
func name(t *rapid.T, inForce ...traderfields.Period) (string, figure) {
	var open []*traderfields.Field
	for i := range traderfields.Fields {
		if f := &traderfields.Fields[i]; !f.IsText() {
			open = append(open, f)
		}
	}
	f := rapid.SampledFrom(open).Draw(t, "field")
	period := inForce[len(inForce)-1]
	if f.Periods == nil {
		return f.Name, figure{f, period}
	}
	if rapid.Bool().Draw(t, "suffix") || !slices.Contains(f.Periods, period) {
		var named []traderfields.Period
		for _, p := range f.Periods {
			if p != traderfields.AllTime {
				named = append(named, p)
			}
		}
		period = rapid.SampledFrom(named).Draw(t, "period of the name")
		return f.Name + period.Suffix(), figure{f, period}
	}
	return f.Name, figure{f, period}
}

var ops = []string{"", "<", "=", ">", ">=", "<=", "!=", "<>", "exist"}

func holds(op string, a, b market.Decimal) bool {
	c := a.Cmp(b)
	switch op {
	case "<":
		return c < 0
	case "=":
		return c == 0
	case ">":
		return c > 0
	case "<=":
		return c <= 0
	case "!=", "<>":
		return c != 0
	case "exist":
		return true
	}
	return c >= 0
}

// oracle is what a request asks, as a plain loop answers it.
type oracle struct {
	passes []func(*traders.Trader) bool
	order  figure
	shown  map[string]figure
	texts  []*traderfields.Field // that are shown
}

// drawn is a random request with what it means.
func drawn(t *rapid.T, w *world) (catalog.DiscoverIn, *oracle) {
	in, o := body(), &oracle{shown: map[string]figure{}}
	period := rapid.SampledFrom(traderfields.Periods).Draw(t, "period")
	in.Period = catalog.WindowDays(period)
	in.PageNum, in.PageSize = rapid.Int64Range(1, 3).Draw(t, "page"), rapid.Int64Range(1, 25).Draw(t, "size")
	in.Sort = &catalog.DiscoverSort{Dir: rapid.SampledFrom([]string{"", "asc", "desc", "ASC"}).Draw(t, "dir")}
	in.Sort.Field, o.order = name(t, period)
	for range rapid.IntRange(0, 3).Draw(t, "filters") {
		f, inForce := catalog.DiscoverFilter{Op: rapid.SampledFrom(ops).Draw(t, "op")}, []traderfields.Period{period}
		if rapid.Bool().Draw(t, "of its own") {
			p := catalog.WindowDays(rapid.SampledFrom(traderfields.Periods).Draw(t, "filter's period"))
			f.Period, inForce = &p, append(inForce, traderfields.Period(p))
		}
		var of figure
		f.Field, of = name(t, inForce...)
		v, known := of.of(&w.list[rapid.IntRange(0, len(w.list)-1).Draw(t, "whose value")])
		if !known || rapid.IntRange(0, 4).Draw(t, "between") == 0 {
			v = v.Add(must.Get(market.ParseDecimal("0.00000049"))(t))
		}
		f.Val = &catalog.Decimal{Decimal: v}
		in.Filters = append(in.Filters, f)
		o.passes = append(o.passes, func(tr *traders.Trader) bool {
			x, known := of.of(tr)
			return known && holds(f.Op, x, v)
		})
	}
	for _, f := range traderfields.TextFields() {
		switch rapid.IntRange(0, 7).Draw(t, f.Name) {
		case 0:
			in.Selects, o.texts = append(in.Selects, f.Name), append(o.texts, f)
		case 1:
			filter, passes := textFilter(t, w, f)
			in.Filters, o.passes = append(in.Filters, filter), append(o.passes, passes)
		}
	}
	coins := func(label string) (list []catalog.Coin) {
		if rapid.IntRange(0, 3).Draw(t, label+" asked") == 0 {
			list = rapid.SliceOfNDistinct(rapid.SampledFrom([]catalog.Coin{"BTC", "ETH", "SOL", "xyz:GOLD", "NONE"}), 1, 3, rapid.ID[catalog.Coin]).Draw(t, label)
		}
		return list
	}
	in.Coins, in.AnyCoins, in.NoCoins, in.LimitCoins = coins("all"), coins("any"), coins("none"), coins("only")
	o.passes = append(o.passes, func(tr *traders.Trader) bool {
		traded := tr.Did[period].Did.Coins
		has := func(c catalog.Coin) bool { return slices.Contains(traded, string(c)) }
		not := func(c catalog.Coin) bool { return !has(c) }
		foreign := func(c string) bool { return !slices.Contains(in.LimitCoins, catalog.Coin(c)) }
		return !slices.ContainsFunc(in.Coins, not) && (len(in.AnyCoins) == 0 || slices.ContainsFunc(in.AnyCoins, has)) && !slices.ContainsFunc(in.NoCoins, has) &&
			(len(in.LimitCoins) == 0 || len(traded) > 0 && !slices.ContainsFunc(traded, foreign))
	})
	if rapid.Bool().Draw(t, "addresses") {
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(w.list)+5), 1, 20, rapid.ID[int]).Draw(t, "addrs") {
			in.Addrs = append(in.Addrs, catalog.Address(fmt.Sprintf("0x%040x", n)))
		}
		o.passes = append(o.passes, func(tr *traders.Trader) bool {
			return slices.Contains(in.Addrs, catalog.Address(market.AddressOf(tr.Address)))
		})
	}
	for range rapid.IntRange(1, 6).Draw(t, "selects") {
		of, f := name(t, period)
		if _, again := o.shown[of]; !again {
			in.Selects = append(in.Selects, of)
		}
		o.shown[of] = f
	}
	return in, o
}

// textFilter draws a condition on a field of texts, often with one that a trader has.
func textFilter(t *rapid.T, w *world, f *traderfields.Field) (catalog.DiscoverFilter, func(*traders.Trader) bool) {
	text := rapid.SampledFrom(append(f.Texts(&w.list[rapid.IntRange(0, len(w.list)-1).Draw(t, "whose text")].Trader), "nobody has it")).Draw(t, "text")
	in := catalog.DiscoverFilter{Field: f.Name, Op: rapid.SampledFrom([]string{"", "=", "!=", "<>", "exist"}).Draw(t, "op of a text"), Val2: &text}
	if f.Kind == traderfields.Address && rapid.Bool().Draw(t, "upper case") {
		in.Val2 = new(strings.ToUpper(text))
	}
	return in, func(tr *traders.Trader) bool {
		has, known := slices.Contains(f.Texts(&tr.Trader), text), isKnown(f, tr)
		return map[string]bool{"": has, "=": has, "!=": known && !has, "<>": known && !has, "exist": known}[in.Op]
	}
}

// isKnown reports whether a field of texts is known of a trader, as an empty list may be.
func isKnown(f *traderfields.Field, tr *traders.Trader) bool {
	return len(f.Texts(&tr.Trader)) > 0 || f.Name == "dexNames" && tr.Other != nil
}

// answer is the whole list in its order.
func (o *oracle) answer(w *world, ascending bool) (list []*traders.Trader) {
	for i := range w.list {
		tr := &w.list[i]
		if !slices.ContainsFunc(o.passes, func(p func(*traders.Trader) bool) bool { return !p(tr) }) {
			list = append(list, tr)
		}
	}
	slices.SortFunc(list, func(x, y *traders.Trader) int {
		a, knownA := o.order.of(x)
		b, knownB := o.order.of(y)
		switch {
		case knownA != knownB && knownA:
			return -1
		case knownA != knownB:
			return 1
		case knownA && ascending && a.Cmp(b) != 0:
			return a.Cmp(b)
		case knownA && a.Cmp(b) != 0:
			return b.Cmp(a)
		}
		return cmp.Compare(string(x.Address[:]), string(y.Address[:]))
	})
	return list
}
