package perp

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/klines"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Nodes are dropped from memory when their bucket ended this long before the
// coin's newest trade, in ms, and no event touched them for so many rounds.
const (
	keepMs     = 60_000
	keepRounds = 8
)

// restMs is how long before the newest trade of all coins the newest of a coin was that is
// dropped from memory whole, when it was not touched for so many rounds: it is read again with
// its next trade.
const restMs = 24 * 3_600_000

// Klines keeps the series of klines: one row a coin, tier of [market.KlineTiers]
// and bucket that saw a trade. Per coin they form a tree: a week has days, a day
// has blocks of four hours, and so on down to the second, which has its trades. A
// bucket's row is always the sum of its children's, and at most a second behind.
//
// A row that is known to be absent is not asked for; see [stored].
type Klines struct {
	engine.Defaults[*Batch]
	coins   map[string]*klineTree
	touched []*klineTree
	round   int64

	// leftOut are trades, as those of their coin and second before them take all the room of a row, or as their
	// week begins before 1970.
	leftOut atomic.Int64
}

type klineTree struct {
	coin    string
	weeks   map[int64]*klineNode
	stored        // which seconds may have a row
	heal    bool  // newest was read from the store and is to be derived again
	touched bool  // in klines.touched
	round   int64 // last touched
}

// klineNode is a bucket. Its children are known only while it is complete; else
// it is just the row.
type klineNode struct {
	tier     int // in market.KlineTiers
	start    int64
	candle   market.Candle
	stored   market.Candle // as last written or read
	complete bool
	children []*klineNode    // by start
	trades   market.TradeSet // of a second
	bytes    int             // that these take in the row, once they are many
	dirty    bool            // to be derived again
	changed  bool            // of a second: its trades differ from the stored ones
	round    int64           // last touched
}

const weekTier = len(market.KlineTiers) - 1

// NewKlines returns klines without state.
func NewKlines() *Klines { return &Klines{coins: map[string]*klineTree{}} }

// Name is that of the series.
func (k *Klines) Name() string { return klines.Name }

// Folds has the fills: the trades of a source without fills are not stored.
func (k *Klines) Folds() []engine.Fold[*Batch] { return storedFills }

// Prefetch asks for the rows along the path of each trade that are not known.
func (k *Klines) Prefetch(b *Batch, r *engine.Reads) {
	trades := b.AllTrades()
	var coin string
	second := int64(-1)
	for i := range trades {
		t := &trades[i]
		s := market.Second1.StartMs(t.Time)
		if t.Coin == coin && s == second || isTooOld(t) {
			continue
		}
		coin, second = t.Coin, s
		tree := k.coins[coin]
		if tree == nil {
			newest, ok := newest(r, klines.Key(coin, market.Second1))
			if !ok {
				continue
			}
			tree = &klineTree{coin: strings.Clone(coin), weeks: map[int64]*klineNode{}, stored: newStored(newest), heal: newest >= 0}
			k.coins[tree.coin] = tree
		}
		if tree.heal {
			tree.need(tree.newest, r)
		}
		tree.need(s, r)
	}
}

// need asks for what is not known along the path to a second: of each bucket on
// it the rows of its parts, so that it can be derived again.
func (t *klineTree) need(second int64, r *engine.Reads) {
	start := market.Week1.StartMs(second)
	node := t.weeks[start]
	if node == nil {
		if t.absent(market.Week1, start) {
			return
		}
		r.Prefetch(klines.At(t.coin, market.Week1, start), checkKline)
	}
	for tier := weekTier; tier > 0; tier-- {
		start, part := market.KlineTiers[tier].StartMs(second), market.KlineTiers[tier-1]
		switch {
		case t.absent(market.KlineTiers[tier], start):
			return
		case node == nil || !node.complete:
			node = nil
			end := market.KlineTiers[tier].NextMs(second)
			for s := start; s < end && s <= t.newest; s = part.NextMs(s) {
				if !t.absent(part, s) {
					r.Prefetch(klines.At(t.coin, part, s), checkKline)
				}
			}
		default:
			if node = node.child(part.StartMs(second)); node == nil {
				return
			}
		}
	}
	if node != nil && !node.complete {
		r.Prefetch(klines.At(t.coin, market.Second1, second), checkKline)
	}
}

// Apply adds the trades to their seconds.
func (k *Klines) Apply(b *Batch, c *engine.Reads, _ time.Time) error {
	trades := b.AllTrades()
	var leaf *klineNode
	var coin string
	for i := range trades {
		t := &trades[i]
		if isTooOld(t) {
			k.leftOut.Add(1)
			continue
		}
		second := market.Second1.StartMs(t.Time)
		if leaf == nil || leaf.start != second || coin != t.Coin {
			var err error
			if leaf, err = k.visit(t.Coin, second, c); err != nil {
				return err
			}
			coin = t.Coin
		}
		if !leaf.takes(t) {
			k.leftOut.Add(1)
			continue
		}
		if leaf.trades.Add(t) {
			leaf.changed = true
			if !leaf.dirty { // else its path is marked already
				k.coins[coin].mark(second, k.round)
			}
		}
	}
	return nil
}

// isTooOld reports whether a trade is of a bucket that begins before 1970: no key has its time, and a
// hundred such rows would stop the domain.
func isTooOld(t *market.Trade) bool { return market.Week1.StartMs(t.Time) < 0 }

// takes reports whether a second has room for a trade, or has it, and counts what it takes.
func (n *klineNode) takes(t *market.Trade) bool {
	if n.trades.Len() < klines.FewTrades || n.trades.Has(t.Tid) {
		return true
	}
	if n.bytes == 0 {
		for _, one := range n.trades.Sorted() {
			n.bytes += klines.TradeSize(one.Px, one.Sz)
		}
	}
	size := klines.TradeSize(t.Px, t.Sz)
	if n.bytes+size > klines.MostTrades {
		return false
	}
	n.bytes += size
	return true
}

// visit opens the path to a second and returns its leaf.
func (k *Klines) visit(coin string, second int64, c *engine.Reads) (*klineNode, error) {
	tree := k.coins[coin]
	tree.round = k.round
	if !tree.touched {
		tree.touched = true
		k.touched = append(k.touched, tree)
	}
	if tree.heal {
		tree.heal = false
		if _, err := tree.open(tree.newest, k.round, c); err != nil {
			return nil, err
		}
	}
	leaf, err := tree.open(second, k.round, c)
	if err != nil {
		return nil, err
	}
	tree.add(second)
	return leaf, nil
}

// open walks the path to a second, makes its buckets complete from what was
// read, and returns its leaf. If anything had to be read, the path is to be
// derived again, for a crash may have left it half written.
func (t *klineTree) open(second, round int64, c *engine.Reads) (*klineNode, error) {
	start := market.Week1.StartMs(second)
	node, read := t.weeks[start], false
	if node == nil {
		var err error
		if node, err = newKlineNode(weekTier, start, c.Row(klines.At(t.coin, market.Week1, start))); err != nil {
			return nil, err
		}
		t.weeks[start] = node
	}
	for {
		node.round = round
		if !node.complete {
			if err := node.fill(t.coin, c); err != nil {
				return nil, err
			}
			read = read || node.stored.Trades > 0 || len(node.children) > 0
		}
		if node.tier == 0 {
			break
		}
		start := market.KlineTiers[node.tier-1].StartMs(second)
		child := node.child(start)
		if child == nil {
			child = &klineNode{tier: node.tier - 1, start: start, complete: true}
			node.insert(child)
		}
		node = child
	}
	if read {
		t.mark(second, round)
	}
	return node, nil
}

// mark has the open path to a second derived again.
func (t *klineTree) mark(second, round int64) {
	node := t.weeks[market.Week1.StartMs(second)]
	for node.dirty, node.round = true, round; node.tier > 0; node.dirty, node.round = true, round {
		node = node.child(market.KlineTiers[node.tier-1].StartMs(second))
	}
}

// newKlineNode is the bucket of a row, or of no row.
func newKlineNode(tier int, start int64, p *store.Point) (*klineNode, error) {
	n := &klineNode{tier: tier, start: start}
	if p == nil {
		return n, nil
	}
	candle, err := klines.Decode(p.Body)
	if err != nil {
		return nil, fmt.Errorf("%s row of %d: %w", market.KlineTiers[tier], start, err)
	}
	n.candle, n.stored = candle, candle
	if tier == 0 {
		if n.trades, err = klines.DecodeTrades(p.Extra, start); err != nil {
			return nil, fmt.Errorf("1s row of %d: %w", start, err)
		}
	}
	return n, nil
}

// checkKline reports why a stored row cannot be read.
func checkKline(at store.SeriesAt, p *store.Point) error {
	_, err := klines.Decode(p.Body)
	if err == nil && at.Interval == market.Second1.String() {
		_, err = klines.DecodeTrades(p.Extra, at.Time.UnixMilli())
	}
	return err
}

// fill makes a bucket complete: its parts become those that were read.
func (n *klineNode) fill(coin string, c *engine.Reads) error {
	n.complete = true
	if n.tier == 0 {
		if p := c.Row(klines.At(coin, market.Second1, n.start)); p != nil {
			again, err := newKlineNode(0, n.start, p)
			if err != nil {
				return err
			}
			n.trades = again.trades
		}
		return nil
	}
	part := market.KlineTiers[n.tier-1]
	for s := n.start; s < market.KlineTiers[n.tier].NextMs(n.start); s = part.NextMs(s) {
		p := c.Row(klines.At(coin, part, s))
		if p == nil {
			continue
		}
		child, err := newKlineNode(n.tier-1, s, p)
		if err != nil {
			return err
		}
		n.children = append(n.children, child)
	}
	return nil
}

func (n *klineNode) find(start int64) (int, bool) {
	return slices.BinarySearchFunc(n.children, start, func(c *klineNode, s int64) int { return int(c.start - s) })
}

func (n *klineNode) child(start int64) *klineNode {
	if i, ok := n.find(start); ok {
		return n.children[i]
	}
	return nil
}

func (n *klineNode) insert(child *klineNode) {
	i, _ := n.find(child.start)
	n.children = slices.Insert(n.children, i, child)
}

// Changes derives the touched buckets again, returns the rows that differ from the
// stored ones, and forgets buckets that rest.
func (k *Klines) Changes(time.Time, bool) engine.Changes {
	var rows []store.SeriesRow
	for _, tree := range k.touched {
		tree.touched = false
		for _, start := range sorted(tree.weeks) {
			rows = tree.weeks[start].derive(rows, tree.coin)
		}
	}
	k.touched = k.touched[:0]
	if k.round++; k.round%keepRounds == 0 {
		k.prune(k.round - keepRounds)
	}
	return engine.Changes{Fine: rows}
}

// prune forgets what no event touched since a round and what has ended.
func (k *Klines) prune(round int64) {
	newest := int64(0)
	for _, tree := range k.coins {
		newest = max(newest, tree.newest)
	}
	for coin, tree := range k.coins {
		if tree.prune(round); tree.round < round && tree.newest < newest-restMs {
			delete(k.coins, coin)
		}
	}
}

func (n *klineNode) derive(rows []store.SeriesRow, coin string) []store.SeriesRow {
	if !n.dirty {
		return rows
	}
	n.dirty = false
	n.candle = market.Candle{}
	if n.tier == 0 {
		n.trades.Fold(&n.candle)
	}
	for _, child := range n.children {
		rows = child.derive(rows, coin)
		n.candle.Merge(&child.candle)
	}
	n.candle.OpenTime = n.start
	if n.candle.Equal(&n.stored) && !n.changed {
		return rows
	}
	n.stored, n.changed = n.candle, false
	var trades *market.TradeSet
	if n.tier == 0 {
		trades = &n.trades
	}
	return append(rows, klines.Row(coin, market.KlineTiers[n.tier], &n.candle, trades))
}

// prune forgets what no event touched since a round and what ended a while
// before the coin's newest trade.
func (t *klineTree) prune(round int64) {
	for start, week := range t.weeks {
		if week.prune(t.newest-keepMs, round) {
			delete(t.weeks, start)
		}
	}
}

// prune reports whether n itself rests; its row is all that is kept of it then.
func (n *klineNode) prune(before, round int64) bool {
	if n.round < round && market.KlineTiers[n.tier].NextMs(n.start) <= before {
		n.complete, n.children, n.trades, n.bytes = false, nil, market.TradeSet{}, 0
		return true
	}
	for _, child := range n.children {
		child.prune(before, round)
	}
	return false
}

// Newest is the time of the newest second of a coin that may have a trade, ms;
// false while the coin is not known in memory.
func (k *Klines) Newest(coin string) (ms int64, ok bool) {
	tree := k.coins[coin]
	if tree == nil || tree.newest < 0 {
		return 0, false
	}
	return tree.newest, true
}

// Candle is the bucket of a coin that holds a time (ms), with everything that
// was applied, whether it is written yet or not; i is one of
// [market.KlineTiers]. It is false for a bucket without a trade and for one that
// is not kept in memory: the newest always is.
func (k *Klines) Candle(coin string, i market.Interval, ms int64) (market.Candle, bool) {
	tree := k.coins[coin]
	if tree == nil {
		return market.Candle{}, false
	}
	node := tree.weeks[market.Week1.StartMs(ms)]
	for node != nil && market.KlineTiers[node.tier] != i {
		if node.tier == 0 {
			return market.Candle{}, false
		}
		node = node.child(market.KlineTiers[node.tier-1].StartMs(ms))
	}
	if node == nil {
		return market.Candle{}, false
	}
	c := node.present()
	return c, c.Trades > 0
}

// present is the candle with what was applied since it was last derived.
func (n *klineNode) present() market.Candle {
	if !n.dirty {
		return n.candle
	}
	c := market.Candle{}
	if n.tier == 0 {
		n.trades.Fold(&c)
	}
	for _, child := range n.children {
		part := child.present()
		c.Merge(&part)
	}
	c.OpenTime = n.start
	return c
}
