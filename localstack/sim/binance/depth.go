package binance

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"quotary/localstack/sim/trading"
)

// Changes of books have numbers that count up. A step of a book has so many; of contracts
// the first of them belong to other books.
const (
	numbersOfStep = 1000
	ofOthers      = 300
)

// lastNumber is the number of the last change of a book until a time, ms.
func lastNumber(ms int64) int64 { return ms / trading.BookEvery * numbersOfStep }

// written are levels as the exchange writes them.
func written(m *Market, levels []trading.Level) [][2]string {
	list := make([][2]string, len(levels))
	for i, l := range levels {
		list[i] = [2]string{m.Price(l.Price), m.Lots(l.Size)}
	}
	return list
}

// depth is the whole book of a market, or the best of it.
func (x *Exchange) depth(q url.Values, k kind) (weight int, body any) {
	fallback, most := "100", 5000
	if k != spot {
		fallback, most = "500", 1000
	}
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), fallback))
	if err != nil || limit < 1 || limit > most {
		return 1, fault{-1130, "Data sent for parameter 'limit' is not valid."}
	}
	weight = depthWeight(k, limit)
	m := x.marketOf(q.Get("symbol"), k)
	if m == nil {
		return weight, invalidSymbol
	}
	now := x.clock().UnixMilli()
	bids, asks := m.Book(now)
	answer := map[string]any{
		"lastUpdateId": lastNumber(now), "bids": written(m, bids[:min(limit, len(bids))]), "asks": written(m, asks[:min(limit, len(asks))]),
	}
	if k != spot {
		answer["E"], answer["T"] = now, now/trading.BookEvery*trading.BookEvery
	}
	if k == coinm {
		answer["symbol"], answer["pair"] = m.Symbol, m.Base+m.Quote
	}
	return weight, answer
}

func depthWeight(k kind, limit int) int {
	switch {
	case k == spot && limit > 1000:
		return 250
	case k == spot && limit > 500:
		return 50
	case k == spot && limit > 100:
		return 25
	case limit > 500:
		return 20
	case limit > 100:
		return 10
	case k == spot || limit > 50:
		return 5
	}
	return 2
}

// depthUpdate is how a book has changed, as streams write it.
type depthUpdate struct {
	Kind      string      `json:"e"`
	EventTime int64       `json:"E"`
	Time      int64       `json:"T,omitempty"` // of contracts
	Symbol    string      `json:"s"`
	First     int64       `json:"U"`
	Last      int64       `json:"u"`
	Prev      int64       `json:"pu,omitempty"` // of contracts
	Bids      [][2]string `json:"b"`
	Asks      [][2]string `json:"a"`
}

// depthUpdates are those that a stream has between two times, ms. Spot streams without a
// speed have one a second.
func (x *Exchange) depthUpdates(name string, k kind, from, now int64) (list []depthUpdate) {
	symbol, speed, is := strings.Cut(name, "@depth")
	m := x.marketOf(strings.ToUpper(symbol), k)
	every := trading.BookEvery
	switch {
	case speed == "" && k == spot:
		every = 1000
	case speed == "@100ms", speed == "" && k != spot, speed == "@500ms" && k != spot:
	default:
		return nil
	}
	if !is || m == nil || x.isHalted(m) {
		return nil
	}
	for at := (from + every - 1) / every * every; at < now; at += every {
		bids, asks := m.BookChangesSince(at-every, at)
		before := lastNumber(at - every)
		u := depthUpdate{Kind: "depthUpdate", EventTime: at, Symbol: m.Symbol, First: before + 1, Last: lastNumber(at), Bids: written(m, bids), Asks: written(m, asks)}
		if k != spot {
			u.EventTime, u.Time, u.First, u.Prev = now, at, u.First+ofOthers, before
		}
		list = append(list, u)
	}
	return list
}
