package bybit

import "quotary/localstack/sim/trading"

// bookFrame is what is said of an order book.
type bookFrame struct {
	Topic string   `json:"topic"`
	Type  string   `json:"type"`
	Ts    int64    `json:"ts"`
	Data  bookData `json:"data"`
	Cts   int64    `json:"cts"`
}

type bookData struct {
	S   string      `json:"s"`
	B   [][2]string `json:"b"`
	A   [][2]string `json:"a"`
	U   int64       `json:"u"`
	Seq int64       `json:"seq"`
}

// bookFrames are those of a book until now, ms: first all of it, then what changes.
func (x *Exchange) bookFrames(t *topic, now int64) (frames []any) {
	if t.until == 0 {
		bids, asks := t.market.Book(now)
		frames = append(frames, t.bookFrame("snapshot", now, bids, asks))
		t.until = (now/trading.BookEvery + 1) * trading.BookEvery
	}
	for ; t.until <= now; t.until += trading.BookEvery {
		if !x.UpdateLost() {
			bids, asks := t.market.BookChanges(t.until)
			frames = append(frames, t.bookFrame("delta", t.until, bids, asks))
		}
	}
	return frames
}

// bookFrame is a frame with what a book is at a time, ms, or what of it is new.
func (t *topic) bookFrame(kind string, at int64, bids, asks []trading.Level) bookFrame {
	levels := func(of []trading.Level) [][2]string {
		list := make([][2]string, len(of))
		for i, l := range of {
			list[i] = [2]string{t.market.Price(l.Price), size(t.market, l.Size)}
		}
		return list
	}
	number := at / trading.BookEvery
	return bookFrame{t.name, kind, at, bookData{t.market.Symbol, levels(bids), levels(asks), number, 7 * number}, at}
}
