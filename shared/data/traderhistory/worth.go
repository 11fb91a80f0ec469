package traderhistory

import (
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// Worth is what the parts of an account were worth at a moment: of each the value and what had come into
// it less what had left it, up to then; nil where that is not known.
type Worth struct {
	Address           table.Address
	Perp, Spot, Total *market.AccountValue
}

// WorthOf is what an account was worth at a time, ms, as its curve has it.
func WorthOf(a table.Address, c market.Curve, ms int64) Worth {
	at := traderfields.WorthOf(c, new(market.VenueCurve), ms, ms)
	last := func(e *traderfields.Ends) *market.AccountValue {
		if e == nil {
			return nil
		}
		return &e.Last
	}
	return Worth{a, last(at.Perp), last(at.Spot), last(at.Total)}
}

// worthColumns are the columns of the files of what accounts were worth.
var worthColumns = []tablefile.Column{
	{Name: "perpValue", Kind: tablefile.Money, Scale: valuePlaces},
	{Name: "perpNetIn", Kind: tablefile.Money, Scale: valuePlaces},
	{Name: "spotValue", Kind: tablefile.Money, Scale: valuePlaces},
	{Name: "spotNetIn", Kind: tablefile.Money, Scale: valuePlaces},
	{Name: "totalValue", Kind: tablefile.Money, Scale: valuePlaces},
	{Name: "totalNetIn", Kind: tablefile.Money, Scale: valuePlaces},
}

// WorthColumns are the columns of the files of what accounts were worth. They are not to be changed.
func WorthColumns() []tablefile.Column { return worthColumns }

func (w *Worth) parts() [3]**market.AccountValue {
	return [...]**market.AccountValue{&w.Perp, &w.Spot, &w.Total}
}

// WorthPart is what the file of a moment is made of, of accounts that are in it once.
func WorthPart(list []Worth) *tablefile.Part {
	p := &tablefile.Part{Addresses: make([]table.Address, len(list))}
	for i := range list {
		p.Addresses[i] = list[i].Address
	}
	p.Values = func(column int) ([]int64, table.Bits, error) {
		values, known := make([]int64, len(list)), table.NewBits(len(list))
		for i := range list {
			v := *list[i].parts()[column/2]
			if v == nil {
				continue
			}
			of := v.Value
			if column%2 == 1 {
				of = v.NetIn
			}
			values[i] = int64(of)
			known.Set(i)
		}
		return values, known, nil
	}
	return p
}

// WorthAt is what the account of a row of such a file was worth, all of whose columns are loaded.
func WorthAt(p *table.Part, row int) (w Worth) {
	w.Address = p.Addresses[row]
	for i, part := range w.parts() {
		value, known := p.At(row, 2*i)
		netIn, also := p.At(row, 2*i+1)
		if known && also {
			*part = &market.AccountValue{Value: market.Micros(value), NetIn: market.Micros(netIn)}
		}
	}
	return w
}

// Ends are two values as figures take them: nil where one is not known.
func Ends(first, last *Worth) traderfields.Worth {
	ends := func(first, last *market.AccountValue) *traderfields.Ends {
		if first == nil || last == nil {
			return nil
		}
		return &traderfields.Ends{First: *first, Last: *last}
	}
	return traderfields.Worth{Perp: ends(first.Perp, last.Perp), Spot: ends(first.Spot, last.Spot), Total: ends(first.Total, last.Total)}
}
