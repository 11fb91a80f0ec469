package market

import (
	"encoding/json"
	"strconv"
)

// BBO is the best bid and offer of one coin at one time; a side without orders
// is nil. It replaces the one before.
type BBO struct {
	Coin     string
	Time     int64 // of the source, ms
	Bid, Ask *Level
}

// AppendJSON appends {"coin","time":ms,"bbo":[bid level or null, ask level or null]}.
func (b *BBO) AppendJSON(to []byte) []byte {
	to = appendKeyText(to, `{"coin":`, b.Coin)
	to = append(to, `,"time":`...)
	to = strconv.AppendInt(to, b.Time, 10)
	to = append(to, `,"bbo":[`...)
	to = appendLevelOrNull(to, b.Bid)
	to = append(to, ',')
	to = appendLevelOrNull(to, b.Ask)
	return append(to, `]}`...)
}

func appendLevelOrNull(to []byte, l *Level) []byte {
	if l == nil {
		return append(to, `null`...)
	}
	return l.AppendJSON(to)
}

// OrderStatus tells that an order of an account came to a status, as a node
// writes it. The decimal texts are the venue's own; texts that the venue has as
// null are "".
type OrderStatus struct {
	Address    string
	Time       int64  // when the order came to the status, ms
	Hash       string // of the transaction, "" where there is none
	Builder    string // address that routed the order, "" without
	BuilderFee int64  // what the builder takes, in tenths of a basis point
	Status     string // open, filled, canceled, ...

	Coin             string
	Side             string // B or A
	LimitPx          string // quote units per base unit
	Sz, OrigSz       string // base units: what rests, and what was placed
	Oid              int64
	Timestamp        int64 // when the order was placed, ms
	TriggerCondition string
	IsTrigger        bool
	TriggerPx        string
	Children         json.RawMessage // orders that it brings along
	IsPositionTpsl   bool
	ReduceOnly       bool
	OrderType        string // Limit, Market, Stop Market, ...
	Tif              string // Gtc, Ioc, Alo, FrontendMarket, ...; "" on triggers
	Cloid            string
}

// Ledger is one update of an account's ledger that is no funding: a deposit, a
// withdrawal, a transfer, ...
type Ledger struct {
	Address string
	Time    int64           // ms
	Hash    string          // of the transaction
	Delta   json.RawMessage // as the venue wrote it: {"type":"deposit","usdc":".."}
}
