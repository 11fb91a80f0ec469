package projection

import "quotary/shared/market"

// Newest is the time of the newest second of a coin that may have a trade, ms;
// false while the coin is not known in memory.
func (s *Set) Newest(coin string) (ms int64, ok bool) {
	tree := s.klines.coins[coin]
	if tree == nil || tree.newest < 0 {
		return 0, false
	}
	return tree.newest, true
}

// Candle is the bucket of a coin that holds a time (ms), with everything that
// was applied, whether it is written yet or not; i is one of
// [market.KlineTiers]. It is false for a bucket without a trade and for one that
// is not kept in memory: the newest always is.
func (s *Set) Candle(coin string, i market.Interval, ms int64) (market.Candle, bool) {
	tree := s.klines.coins[coin]
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
