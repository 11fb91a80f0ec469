package feeds

import (
	"iter"
	"slices"

	"quotary/shared/market"
)

// liquidationFilter is what a topic shows.
type liquidationFilter struct {
	about string
	topic string
	coin  string // "" is any
	least market.Decimal
	idle  bool // nobody followed it when it was looked at last
}

func (f *liquidationFilter) shows(e *market.LiquidationEvent) bool {
	return (f.coin == "" || f.coin == e.Coin) && e.Value.Cmp(f.least) >= 0
}

// filterBlock is how many filters a block has at most.
const filterBlock = 512

// liquidationFilters are those of one coin, by least value. They lie in blocks, so that another one
// moves few of a hundred thousand. The zero value has none.
type liquidationFilters struct {
	blocks [][]*liquidationFilter // none is empty
}

func (l *liquidationFilters) add(f *liquidationFilter) {
	n, _ := slices.BinarySearchFunc(l.blocks, f.least, func(b []*liquidationFilter, least market.Decimal) int { return b[len(b)-1].least.Cmp(least) })
	switch {
	case len(l.blocks) == 0:
		l.blocks = [][]*liquidationFilter{nil}
	case n == len(l.blocks):
		n--
	}
	block := l.blocks[n]
	at, _ := slices.BinarySearchFunc(block, f.least, func(f *liquidationFilter, least market.Decimal) int { return f.least.Cmp(least) })
	block = slices.Insert(block, at, f)
	l.blocks[n] = block
	if len(block) > filterBlock {
		l.blocks[n] = slices.Clone(block[:filterBlock/2])
		l.blocks = slices.Insert(l.blocks, n+1, slices.Clone(block[filterBlock/2:]))
	}
}

// upTo are those that show what is worth so much.
func (l *liquidationFilters) upTo(value market.Decimal) iter.Seq[*liquidationFilter] {
	return func(yield func(*liquidationFilter) bool) {
		for _, block := range l.blocks {
			for _, f := range block {
				if f.least.GreaterThan(value) || !yield(f) {
					return
				}
			}
		}
	}
}

// remove takes those out that gone says; it is asked once of each.
func (l *liquidationFilters) remove(gone func(*liquidationFilter) bool) {
	for n := range l.blocks {
		l.blocks[n] = slices.DeleteFunc(l.blocks[n], gone)
	}
	l.blocks = slices.DeleteFunc(l.blocks, func(b []*liquidationFilter) bool { return len(b) == 0 })
}
