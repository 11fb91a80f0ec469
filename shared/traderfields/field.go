// Package traderfields is the table of the figures that are kept of every trader: what each one
// means, how it comes about and in which unit, with the function that makes it. The columns of
// the trader table, what can be asked of it and its documentation are all made from [Fields].
//
// A figure is a whole number of units, of which one is 10^-Scale, or it is not known: without a
// position there is no average of them. What is beyond [Most] is not known either; it is never
// cut to what fits.
package traderfields

import (
	"math/bits"
	"slices"

	"quotary/shared/market"
)

// Most bounds figures, either way: 18 digits, which Parquet and what reads it keep in 64 bits.
const Most = 1e18 - 1

// Period is the time that a figure is about, in days up to now.
type Period int

// The periods.
const (
	AllTime Period = 0
	Day     Period = 1
	Week    Period = 7
	Month   Period = 30
)

// Suffix is what a period adds to the name of a field that is bound to periods, in columns and in
// questions; all time adds nothing.
func (p Period) Suffix() string {
	return map[Period]string{AllTime: "", Day: "1d", Week: "7d", Month: "30d"}[p]
}

// Periods are all of them. They are not to be changed.
var Periods = []Period{Day, Week, Month, AllTime}

var fillPeriod = []Period{Day, Week, Month}

// Kind is what a figure is.
type Kind string

// The kinds. Money and ratios are rounded half away from zero.
const (
	Count Kind = "count" // a whole number
	Money Kind = "money" // quote units, each as one US dollar
	Ratio Kind = "ratio" // a number with decimal places: a fraction, a percentage, an average
	Date  Kind = "date"  // ms since 1970 UTC

	Text    Kind = "text"    // no figure, but a text
	Address Kind = "address" // no figure, but a text, in lower case
	Names   Kind = "names"   // no figure, but a list of texts, each once
)

// scaleOf is how many decimal places figures of a kind have.
func scaleOf(k Kind) int {
	if k == Money || k == Ratio {
		return market.RatioPlaces
	}
	return 0
}

// Adds says how figures of parts of a time make that of the whole.
type Adds string

// The ways in which figures add up.
const (
	Sum      Adds = "sum"
	Least    Adds = "min"
	Greatest Adds = "max"
	Distinct Adds = "distinct" // each thing once, in the first hour of the period in which it happens: see [market.Distinct]
	Derived  Adds = "derived"  // from others that add up
	Latest   Adds = "latest"   // the newest
)

// Field is a figure that is kept of every trader.
type Field struct {
	Name    string // as it is asked for
	Group   string
	Periods []Period // nil where the figure is not bound to periods
	Kind    Kind
	Scale   int // a unit is 10^-Scale
	Formula string
	Adds    Adds

	// Counted names the field that is known where a list of texts is, as the empty one is too; "" of others.
	Counted string

	// ByList is set where it is known by lists of addresses, and follows from nothing that the account did.
	ByList bool

	value func(*Trader, Period) (market.Decimal, bool)
	texts func(*Trader) []string
}

// Trader is what the figures of one trader are made of. What is not known is left out.
type Trader struct {
	Did   map[Period]*market.Window   // what the account did; of all time with [AllTime]
	Worth map[Period]Worth            // what it was worth at the ends of a period
	Fell  map[Period]*market.Drawdown // the greatest fall of its perpetuals
	Holds *market.AccountSummary      // what it holds now
	Vault *VaultRole                  // what vaults have to do with it
	Other *OtherVenues                // where else it trades
}

// Fields are all figures, by groups.
var Fields = slices.Concat(positionFields, fillFields, perpFillFields, orderFields, builderFields, liquidationFields, flowFields,
	snapshotFields, worthFields, drawdownFields, vaultFields, otherFields)

// Group says of what the figures of a group are made.
type Group struct{ Name, Source string }

// ValueChange is the group of the figures that come from what an account was worth at two times, and of
// the volumes between these.
const ValueChange = "account value change"

// Groups are all groups.
var Groups = []Group{
	{"completed positions", "Completed trades, which are folded from fills and funding payments; in the period in which they were closed. Their pnl is closedPnl, without fees and funding"},
	{"fills", "Fills of perpetuals and of spot markets, without what is no trade"},
	{"perp fills", "Fills of perpetuals"},
	{"all orders", "Statuses of orders as they come: of what a node wrote while nobody read, those of an account count that come before newer ones of it, so that there may be fewer than filled orders"},
	{"filled orders", "Statuses of orders, from when on they are kept"},
	{"builders", "Fills of accounts that name the address as their builder; of each account those of its first 50 builders"},
	{"liquidation", "Fills of perpetuals that liquidated or deleveraged the account"},
	{"net flows", "Ledger updates, as net-flow has them"},
	{"account snapshot", "Balances and positions at the marks, as traders/accounts has them"},
	{ValueChange, "The curve of the account, as portfolio has it; volumes from fills"},
	{"max drawdown", "The curve of the account's perpetuals, as batch-max-drawdown has it"},
	{"vault", "Vaults that the venue lists, and those that ledger updates name, of which the venue tells; of now"},
	{"vault leader", "The same; a vault that was closed does not count"},
	{"other venues", "Files that the operator of the deployment loads, as nobody publishes it: of each address the last line"},
}

// Figure is the figure of a trader over a period, in units; known is false where it is not known.
// Of a field that is not bound to periods the period is without a meaning.
func (f *Field) Figure(t *Trader, p Period) (units int64, known bool) {
	if f.value == nil {
		return 0, false
	}
	v, known := f.value(t, p)
	if !known {
		return 0, false
	}
	return Units(v, f.Scale)
}

// Texts are those of a trader of a field that is no figure; none where none are known.
func (f *Field) Texts(t *Trader) []string {
	if f.texts == nil {
		return nil
	}
	return f.texts(t)
}

// Moves reports whether the figure may be another in the next hour though nothing is known of the account by
// then that it did, and nothing that it did has left the period: it comes of what the account was worth, or of
// orders, of which it is not noted who placed them. What follows from the moment and from lists is told by
// [Latest] and ByList.
func (f *Field) Moves() bool {
	switch f.Group {
	case ValueChange:
		return f.Adds == Derived
	case "max drawdown", "all orders":
		return true
	}
	return false
}

// IsText reports whether the field is no figure, but texts.
func (f *Field) IsText() bool { return f.Kind == Text || f.Kind == Address || f.Kind == Names }

// Decimal is a figure of so many units.
func (f *Field) Decimal(units int64) market.Decimal {
	if f.Scale == 0 {
		return market.DecimalFromInt(units)
	}
	return market.Micros(units).Decimal() // of [scaleOf]
}

// Units is a value in units of 10^-scale, rounded half away from zero; known is false of what is
// beyond [Most].
func Units(v market.Decimal, scale int) (units int64, known bool) {
	negative, hi, lo, places, ok := v.ToHiLo()
	if !ok || hi != 0 { // it is long, as quotients are
		n, err := v.Mul(market.DecimalFromInt(int64(powers[scale]))).RoundHAZ(0).Int64() //nolint:gosec // a scale is small
		if err != nil || n > Most || n < -Most {
			return 0, false
		}
		return n, true
	}
	if digits := int(places) - scale; digits > 0 {
		unit := powers[digits]
		rest := lo % unit
		if lo /= unit; rest >= unit-rest {
			lo++
		}
	} else {
		hi, lo = bits.Mul64(lo, powers[-digits])
	}
	if hi != 0 || lo > Most {
		return 0, false
	}
	if units = int64(lo); negative { //nolint:gosec // it is at most Most
		units = -units
	}
	return units, true
}

// powers are those of ten, for each number of places that a decimal may have.
var powers = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// Column is a field in one of its periods.
type Column struct {
	Field  *Field
	Period Period
}

// Name is that of the field with the suffix of the period.
func (c Column) Name() string {
	if c.Field.Periods == nil {
		return c.Field.Name
	}
	return c.Field.Name + c.Period.Suffix()
}

// Columns are all figures in all of their periods; texts are none.
func Columns() (all []Column) {
	for i := range Fields {
		f := &Fields[i]
		switch {
		case f.IsText():
		case f.Periods == nil:
			all = append(all, Column{f, AllTime})
		default:
			for _, p := range f.Periods {
				all = append(all, Column{f, p})
			}
		}
	}
	return all
}

// TextFields are all fields that are no figures.
func TextFields() (all []*Field) {
	for i := range Fields {
		if f := &Fields[i]; f.IsText() {
			all = append(all, f)
		}
	}
	return all
}

// number is a count.
func number(n int64) (market.Decimal, bool) { return market.DecimalFromInt(n), true }

// known is a value that always is.
func known(d market.Decimal) (market.Decimal, bool) { return d, true }

// over is a / b; it is not known where b is 0. What is cut off behind 19 places changes no
// rounding to fewer, as that is away from zero.
func over(a, b market.Decimal) (market.Decimal, bool) {
	q, err := a.Div(b)
	return q, err == nil
}

// each is a over a number.
func each(a market.Decimal, n int64) (market.Decimal, bool) {
	return over(a, market.DecimalFromInt(n))
}

// part is n over a number.
func part(n, of int64) (market.Decimal, bool) { return each(market.DecimalFromInt(n), of) }

// percent is likewise from 0 to 100.
func percent(n, of int64) (market.Decimal, bool) { return part(100*n, of) }

// figure makes a figure of what is known of a trader.
type figure[Of any] func(*Of) (market.Decimal, bool)

// row is a field without what it has in common with the others of its group.
type row[Of any] struct {
	name    string
	kind    Kind
	adds    Adds
	formula string
	value   figure[Of]
}

// group are fields over what is picked of a trader, nil where that is not known.
func group[Of any](name string, periods []Period, pick func(*Trader, Period) *Of, rows ...row[Of]) []Field {
	fields := make([]Field, len(rows))
	for i, r := range rows {
		fields[i] = Field{
			Name: r.name, Group: name, Periods: periods, Kind: r.kind, Scale: scaleOf(r.kind), Formula: r.formula, Adds: r.adds,
			value: func(t *Trader, p Period) (market.Decimal, bool) {
				of := pick(t, p)
				if of == nil {
					return market.Decimal{}, false
				}
				return r.value(of)
			},
		}
	}
	return fields
}

// did picks of what an account did in a period.
func did[Of any](of func(*market.Facts) *Of) func(*Trader, Period) *Of {
	return func(t *Trader, p Period) *Of {
		if w := t.Did[p]; w != nil {
			return of(&w.Did)
		}
		return nil
	}
}
