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

// Ledger is one update of an account's ledger that is no funding: a deposit, a
// withdrawal, a transfer, ...
type Ledger struct {
	Address string
	Time    int64           // ms
	Hash    string          // of the transaction
	Delta   json.RawMessage // as the venue wrote it: {"type":"deposit","usdc":".."}
}
