package venue

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// meter counts what the requests to /info of a minute weigh. All of them have one address, as those of one
// deployment do.
type meter struct {
	most int // weight of a minute; 0 bounds nothing

	mu     sync.Mutex
	minute time.Time
	used   int
}

// spend takes a weight, and reports whether that is still within the minute. A minute that is used up is so until
// it has passed; who asks then is not charged.
func (m *meter) spend(now time.Time, weight int) bool {
	if m.most == 0 {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(m.minute) {
		m.minute, m.used = minute, 0
	}
	if m.used >= m.most {
		return false
	}
	m.used += weight
	return true
}

var (
	lightTypes = []string{"l2Book", "allMids", "clearinghouseState", "orderStatus", "spotClearinghouseState", "exchangeStatus"}
	longTypes  = []string{
		"recentTrades", "historicalOrders", "userFills", "userFillsByTime", "fundingHistory", "userFunding",
		"userNonFundingLedgerUpdates", "twapHistory", "userTwapSliceFills", "userTwapSliceFillsByTime",
	}
)

// weightOf is what a request weighs before it is answered.
func weightOf(kind string) int {
	switch {
	case slices.Contains(lightTypes, kind):
		return 2
	case kind == "userRole":
		return 60
	}
	return 20
}

// weightOfRows is what the rows of an answer weigh beside.
func weightOfRows(kind string, answer []byte) int {
	per := 20
	if kind == "candleSnapshot" {
		per = 60
	} else if !slices.Contains(longTypes, kind) {
		return 0
	}
	var rows []json.RawMessage
	if json.Unmarshal(answer, &rows) != nil {
		return 0
	}
	return len(rows) / per
}
