package market

import "cmp"

// Trade is one execution between two accounts.
type Trade struct {
	Coin  string
	Side  Side      // of the taker
	Px    Decimal   // quote units per base unit
	Sz    Decimal   // base units
	Time  int64     // ms
	Tid   int64     // trade id, unique within coin and block
	Hash  string    // of the transaction
	Users [2]string // buyer, seller; "" where the source has only one side
	Seq   int64     // as [Fill].Seq

	Arrival Arrival // of the fill by which it is known, where it is by one
}

// Order is the place of a trade among the trades of its coin: by time, within
// one ms by Seq, then by id. It is total, so first and last trade of a bucket
// do not depend on the order of arrival.
type Order struct {
	Time, Seq, Tid int64
}

// Order is t's place among the trades of its coin.
func (t *Trade) Order() Order { return Order{t.Time, t.Seq, t.Tid} }

// Compare is negative when o comes before p.
func (o Order) Compare(p Order) int {
	return cmp.Or(cmp.Compare(o.Time, p.Time), cmp.Compare(o.Seq, p.Seq), cmp.Compare(o.Tid, p.Tid))
}

// AppendTrades appends the trades behind fills: one for each fill whose account
// crossed the spread (see [Fill.Trade]). Nodes write the two fills of a trade
// side by side, which gives the trade both its users; where the other fill is
// missing, its user stays "".
func AppendTrades(dst []Trade, fills []Fill) []Trade {
	for i := range fills {
		t, ok := fills[i].Trade()
		if !ok {
			continue
		}
		if i > 0 && other(&fills[i], &fills[i-1]) {
			t.setUser(&fills[i-1])
		} else if i+1 < len(fills) && other(&fills[i], &fills[i+1]) {
			t.setUser(&fills[i+1])
		}
		dst = append(dst, t)
	}
	return dst
}

func other(f, g *Fill) bool {
	return f.Tid == g.Tid && f.Side != g.Side && f.Coin == g.Coin && f.Time == g.Time
}

func (t *Trade) setUser(f *Fill) {
	if f.Side == Buy {
		t.Users[0] = f.Address
	} else {
		t.Users[1] = f.Address
	}
}
