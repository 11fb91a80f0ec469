package venue

import "sort"

// tif is a time in force; its text is the wire's.
type tif uint8

const (
	gtc tif = iota
	ioc
	alo
	frontendMarket
	liquidationMarket
)

var tifNames = [...]string{"Gtc", "Ioc", "Alo", "FrontendMarket", "LiquidationMarket"}

type triggerKind uint8

const (
	noTrigger triggerKind = iota
	takeProfit
	stopLoss
)

// order is a live order. Sz is what is left of Orig.
type order struct {
	Oid       int64
	Time      int64 // ms
	Px        int64
	Sz, Orig  int64
	User      int32
	Coin      int16
	Buy       bool
	Reduce    bool
	Tif       tif
	Trigger   triggerKind
	TriggerPx int64
	PosTpsl   bool
	Triggered bool
	Cloid     uint64
	Twap      int64
	Sibling   int64 // the other one of a take-profit and stop pair
	Silent    bool  // a long block's quote: unseen on the streams until it trades
	Liq       *liquidation
}

// liquidation marks the orders and fills of a forced close.
type liquidation struct {
	User     int32
	Mark     int64
	Backstop bool // closed outside the book: by the vault, or by those whom Delever names
	Delever  bool // by auto-deleveraging
	Cross    bool
}

// orderRec is an order as it stood when its status changed.
type orderRec struct {
	Order  order
	Status string
	Time   int64 // ms
}

// level is one price of a book, its orders by time.
type level struct {
	px     int64
	orders []*order
}

// book is one market's resting orders: each side sorted so that its best level
// is the last element.
type book struct {
	bids, asks []level
}

func (b *book) side(buy bool) *[]level {
	if buy {
		return &b.bids
	}
	return &b.asks
}

// find returns the index of px among the levels of a side, or where it belongs.
func find(levels []level, buy bool, px int64) (int, bool) {
	i := sort.Search(len(levels), func(i int) bool {
		if buy {
			return levels[i].px >= px
		}
		return levels[i].px <= px
	})
	return i, i < len(levels) && levels[i].px == px
}

func (b *book) add(o *order) {
	side := b.side(o.Buy)
	i, ok := find(*side, o.Buy, o.Px)
	if !ok {
		*side = append(*side, level{})
		copy((*side)[i+1:], (*side)[i:])
		(*side)[i] = level{px: o.Px}
	}
	(*side)[i].orders = append((*side)[i].orders, o)
}

func (b *book) remove(o *order) {
	side := b.side(o.Buy)
	i, ok := find(*side, o.Buy, o.Px)
	if !ok {
		return
	}
	l := &(*side)[i]
	for j, x := range l.orders {
		if x == o {
			l.orders = append(l.orders[:j], l.orders[j+1:]...)
			break
		}
	}
	if len(l.orders) == 0 {
		*side = append((*side)[:i], (*side)[i+1:]...)
	}
}

// best returns the first order in line on a side, or nil.
func (b *book) best(buy bool) *order {
	side := *b.side(buy)
	if len(side) == 0 {
		return nil
	}
	return side[len(side)-1].orders[0]
}

// bestPx returns the best price of a side, or 0 when it is empty.
func (b *book) bestPx(buy bool) int64 {
	side := *b.side(buy)
	if len(side) == 0 {
		return 0
	}
	return side[len(side)-1].px
}

// crosses reports whether an order to buy (or sell) at px would trade with best.
func crosses(buy bool, px, best int64) bool {
	if best == 0 {
		return false
	}
	if buy {
		return px >= best
	}
	return px <= best
}

// depth calls fn with each level of a side, best first, until it returns false.
func (b *book) depth(buy bool, fn func(px, sz int64, n int) bool) {
	side := *b.side(buy)
	for i := len(side) - 1; i >= 0; i-- {
		var sz int64
		for _, o := range side[i].orders {
			sz += o.Sz
		}
		if !fn(side[i].px, sz, len(side[i].orders)) {
			return
		}
	}
}
