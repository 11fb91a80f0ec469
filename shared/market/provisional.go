package market

import "strconv"

// AppendProvisional appends the fills of both sides of public trades, whose users the venue names.
func AppendProvisional(dst []Fill, trades []Trade) []Fill {
	for i := range trades {
		t := &trades[i]
		for n, side := range [...]Side{Buy, Sell} { // as Users has them
			f := Fill{
				Address: t.Users[n], Coin: t.Coin, Px: Text(t.Px), Sz: Text(t.Sz), Side: side, Time: t.Time,
				Hash: t.Hash, Crossed: side == t.Side, Tid: t.Tid, Seq: t.Seq, Provisional: true,
			}
			if f.Tid != 0 && f.Check() == nil { // a side that is not known has no fill
				dst = append(dst, f)
			}
		}
	}
	return dst
}

// public is what a public trade says of f, and nothing else.
func (f *Fill) public() Fill {
	return Fill{
		Address: f.Address, Coin: f.Coin, Px: f.Px, Sz: f.Sz, Side: f.Side, Time: f.Time,
		Hash: f.Hash, Crossed: f.Crossed, Tid: f.Tid, Seq: f.Seq, Arrived: f.Arrived, Provisional: true,
	}
}

// appendProvisional appends the members behind the time of a fill that is provisional: what is not known is null.
func (f *Fill) appendProvisional(b []byte) []byte {
	b = appendKeyText(append(b, `,"startPosition":null,"dir":null,"closedPnl":null`...), `,"hash":`, f.Hash)
	b = strconv.AppendBool(append(b, `,"oid":null,"crossed":`...), f.Crossed)
	b = strconv.AppendInt(append(b, `,"fee":null,"tid":`...), f.Tid, 10)
	return append(b, `,"feeToken":null,"twapId":null}`...)
}
