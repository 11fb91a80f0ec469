package feeds

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/klines"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
)

// candleSpacing is the least time between two states of an open candle.
const candleSpacing = 500 * time.Millisecond

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

// candles publishes the newest candle of the coins and intervals that are followed.
type candles struct {
	base
	mu    sync.Mutex
	cache refCache[*openCandle] // by topic
}

type openCandle struct {
	topic    string
	coin     string
	interval market.Interval
	frame    []byte
	opened   int64 // the bucket of the frame, ms
	trades   int64
	current  bool // the pipeline was asked for what is not written yet
}

func newCandles(b base) publisher {
	cs := &candles{base: b}
	cs.cache = newRefCache[*openCandle](&cs.mu, b.loads.turn)
	return cs
}

func (cs *candles) about(s *channel.Subscription) string { return s.Interval + " " + s.Coin }

func (cs *candles) topic(about string) hub.Topic {
	name := cs.topicName(about)
	return hub.Topic{Guard: &cs.mu, Spacing: candleSpacing, Snapshot: func() [][]byte {
		if c, ok := cs.cache.shown(name); ok {
			return hub.Single(c.frame)
		}
		return nil
	}}
}

// prepare reads the newest candle as it is stored; the pipeline brings it up to date
// with its next batch.
func (cs *candles) prepare(of string, s *channel.Subscription) (load func(context.Context) error, release func()) {
	topic, coin := cs.topicName(cs.about(s)), s.Coin
	interval, err := market.ParseInterval(s.Interval)
	if err != nil {
		return func(context.Context) error { return err }, func() {}
	}
	return func(ctx context.Context) error {
		return cs.cache.acquire(ctx, of, topic,
			func() *openCandle { return &openCandle{topic: topic, coin: coin, interval: interval} },
			cs.load)
	}, func() { cs.cache.release(topic) }
}

func (cs *candles) load(ctx context.Context, c *openCandle) error {
	candle, ok, err := klines.Latest(ctx, cs.Series, c.coin, c.interval)
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
}

func (cs *candles) prune() { cs.cache.prune(cs.hub.Watched) }

// applied publishes the candles that a batch has changed: of each interval the
// newest bucket, and the one before it when it got a trade, which is then closed.
func (cs *candles) applied(e *market.Events, folded Candles) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.cache.entries) == 0 {
		return
	}
	touched := touchedSeconds(e)
	for _, entry := range cs.cache.entries {
		c := entry.value
		seconds := touched[c.coin]
		if len(seconds) == 0 && c.current {
			continue
		}
		newest, ok := folded.Newest(c.coin)
		if !ok {
			continue
		}
		c.current = true
		open := c.interval.StartMs(newest)
		before := c.interval.StartMs(open - 1)
		closed := slices.ContainsFunc(seconds, func(s int64) bool { return s >= before && s < open })
		if candle, ok := folded.Candle(c.coin, c.interval, before); closed && ok {
			frame := append(appendCandle(inChannel(channel.Candle), c.coin, c.interval, &candle), '}')
			cs.hub.Publish(c.topic, frame, hub.Final)
		}
		if candle, ok := folded.Candle(c.coin, c.interval, newest); ok && c.replace(&candle) {
			cs.hub.Publish(c.topic, c.frame, hub.State)
		}
	}
}

// replace takes a candle unless it is older than the one that is kept, and
// reports whether it did.
func (c *openCandle) replace(candle *market.Candle) bool {
	if candle.OpenTime < c.opened || candle.OpenTime == c.opened && candle.Trades <= c.trades {
		return false
	}
	c.opened, c.trades = candle.OpenTime, candle.Trades
	c.frame = append(appendCandle(inChannel(channel.Candle), c.coin, c.interval, candle), '}')
	return true
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

// appendCandle appends a candle of the venue with the taker's part: t and T open
// and close time in ms, s coin, i interval, o c h l prices, v base and a quote
// volume, n trades, and of v, a and n what takers bought: vb, ab, nb.
func appendCandle(b []byte, coin string, i market.Interval, c *market.Candle) []byte {
	b = strconv.AppendInt(append(b, `{"t":`...), c.OpenTime, 10)
	b = strconv.AppendInt(append(b, `,"T":`...), i.NextMs(c.OpenTime)-1, 10)
	b = jsontext.AppendString(append(b, `,"s":`...), coin)
	b = append(append(append(b, `,"i":"`...), i.String()...), '"')
	for _, f := range [...]struct {
		key   string
		value market.Decimal
	}{{"o", c.Open}, {"c", c.Close}, {"h", c.High}, {"l", c.Low}, {"v", c.Size}, {"a", c.Amount}, {"vb", c.SizeBuyer}, {"ab", c.AmountBuyer}} {
		b = append(append(append(b, `,"`...), f.key...), `":"`...)
		b = append(market.AppendText(b, f.value), '"')
	}
	b = strconv.AppendInt(append(b, `,"n":`...), c.Trades, 10)
	b = strconv.AppendInt(append(b, `,"nb":`...), c.TradesBuyer, 10)
	return append(b, '}')
}
