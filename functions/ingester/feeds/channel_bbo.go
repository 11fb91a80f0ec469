package feeds

import (
	"sync"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

// bestPrices publishes the best bid and ask of all coins. They come from whichever
// source is ahead: the venue's own channel, or the top of a book.
type bestPrices struct {
	base
	coinTopic
	mu    sync.Mutex
	coins map[string]*bestPrice
}

type bestPrice struct {
	topic string
	last  market.BBO // its time is 0 before the first
}

func newBestPrices(b base) publisher { return &bestPrices{base: b, coins: map[string]*bestPrice{}} }

func (bp *bestPrices) topic(coin string) hub.Topic {
	return hub.Topic{Guard: &bp.mu, Snapshot: func() [][]byte {
		p := bp.coins[coin]
		if p == nil || p.last.Time == 0 {
			return nil
		}
		return hub.Single(bestFrame(&p.last))
	}}
}

func (bp *bestPrices) consume(e *market.Events) {
	bp.mu.Lock()
	defer bp.mu.Unlock()
	for i := range e.Books {
		b := &e.Books[i]
		if p := bp.coin(b.Coin); b.Time > p.last.Time {
			bp.publish(p, &market.BBO{Coin: b.Coin, Time: b.Time, Bid: top(b.Bids), Ask: top(b.Asks)})
		}
	}
	for i := range e.BBOs {
		bp.publish(bp.coin(e.BBOs[i].Coin), &e.BBOs[i])
	}
}

func (bp *bestPrices) coin(name string) *bestPrice {
	p := bp.coins[name]
	if p == nil {
		p = &bestPrice{topic: bp.topicName(name)}
		bp.coins[name] = p
	}
	return p
}

func (bp *bestPrices) publish(p *bestPrice, best *market.BBO) {
	changed := p.last.Time == 0 || !sameLevel(p.last.Bid, best.Bid) || !sameLevel(p.last.Ask, best.Ask)
	p.last = *best
	if changed && bp.hub.Watched(p.topic) {
		bp.hub.Publish(p.topic, bestFrame(best), hub.State)
	}
}

func top(levels []market.Level) *market.Level {
	if len(levels) == 0 {
		return nil
	}
	return &levels[0]
}

func sameLevel(a, b *market.Level) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func bestFrame(best *market.BBO) []byte {
	return append(best.AppendJSON(inChannel(channel.BBO)), '}')
}
