package feeds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/klines"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Candles are those that the pipeline has folded. They belong to the pipeline and are
// valid during the call that they are given to.
type Candles interface {
	// Newest returns the start of the newest second of a coin that may have a trade,
	// in ms; false while the coin is not in memory.
	Newest(coin string) (ms int64, ok bool)
	// Candle returns the candle of the bucket that holds a time in ms; false for a
	// bucket without a trade and for one that is not in memory. The newest always is.
	Candle(coin string, interval market.Interval, ms int64) (market.Candle, bool)
}

// candles keeps the newest candle of the coins and intervals that are followed.
type candles struct {
	hub  *hub.Hub
	rows *store.Series

	mu    sync.Mutex
	shelf shelf[*liveCandle] // by topic
}

type liveCandle struct {
	topic    string
	coin     string
	interval market.Interval
	frame    []byte
	opened   int64 // the bucket of the frame, ms
	trades   int64
	asked    bool // whether the pipeline has been asked for what is not written yet
}

// prepare makes the newest candle ready for a snapshot: as it is stored, which
// the pipeline brings up to date with its next batch.
func (cs *candles) prepare(ctx context.Context, topic, coin, interval string) error {
	i, err := market.ParseInterval(interval)
	if err != nil {
		return err
	}
	return cs.shelf.acquire(ctx, topic,
		func() *liveCandle { return &liveCandle{topic: topic, coin: coin, interval: i} },
		func(ctx context.Context, c *liveCandle) error {
			candle, ok, err := klines.Latest(ctx, cs.rows, coin, i)
			if err != nil {
				return fmt.Errorf("read the open candle: %w", err)
			}
			if !ok {
				return nil
			}
			cs.mu.Lock()
			defer cs.mu.Unlock()
			c.replace(&candle)
			return nil
		})
}

// replace takes a candle unless it is older than the one at hand, and tells
// whether it did.
func (c *liveCandle) replace(candle *market.Candle) bool {
	if candle.OpenTime < c.opened || candle.OpenTime == c.opened && candle.Trades <= c.trades {
		return false
	}
	c.opened, c.trades = candle.OpenTime, candle.Trades
	c.frame = append(appendCandle(inChannel("candle"), c.coin, c.interval, candle), '}')
	return true
}

// snapshot is the newest candle of a topic. The hub holds the lock.
func (cs *candles) snapshot(topic string) []byte {
	if c, ok := cs.shelf.get(topic); ok {
		return c.frame
	}
	return nil
}

// applied pushes the candles that a batch has changed: of each interval the
// newest bucket, and the one before it when it got a trade, which is then closed.
func (cs *candles) applied(e *market.Events, folded Candles) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.shelf.entries) == 0 {
		return
	}
	touched := touchedSeconds(e)
	for _, entry := range cs.shelf.entries {
		c := entry.value
		seconds := touched[c.coin]
		if len(seconds) == 0 && c.asked {
			continue
		}
		newest, ok := folded.Newest(c.coin)
		if !ok {
			continue
		}
		c.asked = true
		open := c.interval.StartMs(newest)
		before := c.interval.StartMs(open - 1)
		closed := slices.ContainsFunc(seconds, func(s int64) bool { return s >= before && s < open })
		if candle, ok := folded.Candle(c.coin, c.interval, before); closed && ok {
			frame := append(appendCandle(inChannel("candle"), c.coin, c.interval, &candle), '}')
			cs.hub.Publish(c.topic, frame, hub.Final)
		}
		if candle, ok := folded.Candle(c.coin, c.interval, newest); ok && c.replace(&candle) {
			cs.hub.Publish(c.topic, c.frame, hub.State)
		}
	}
}

// touchedSeconds are the seconds in which each coin had a trade, ms.
func touchedSeconds(e *market.Events) map[string][]int64 {
	touched := map[string][]int64{}
	add := func(coin string, ms int64) {
		s := market.Second1.StartMs(ms)
		if list := touched[coin]; !slices.Contains(list[max(0, len(list)-2):], s) {
			touched[strings.Clone(coin)] = append(list, s)
		}
	}
	for i := range e.Fills {
		if f := &e.Fills[i]; f.Crossed && f.IsTrade() {
			add(f.Coin, f.Time)
		}
	}
	for i := range e.Trades {
		add(e.Trades[i].Coin, e.Trades[i].Time)
	}
	return touched
}
