package exchange

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairseries"
)

const (
	pastEvery   = 5 * time.Minute  // between two rounds
	pastLag     = 20 * time.Second // after a step has ended, until it is asked for
	pastWindow  = 12 * time.Hour   // of what is emitted at once, but of rates
	stepEvery   = int64(300_000)   // ms, of everything but rates
	quietRepeat = time.Minute      // between two warnings of the same trouble, and until what was refused is asked for again
)

// span is what was emitted of something, ms: from From until before To.
type span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// pastPosition is where a source of the past stands, as its checkpoint holds it.
type pastPosition struct {
	Delivered map[string]span `json:"told"`
}

// pastSpans is what a source of the past of perpetuals has emitted of each [ask], which is one
// span without a gap, and lengthens it at either end, a window at a time. Of what is refused
// nothing more is asked for until the next round. It may be used by goroutines, each with asks
// of its own.
type pastSpans struct {
	config Config
	stats  *source.Stats
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error // by the clock of now

	sink engine.Sink[*Batch]

	// Over what follows, and while the sink takes a position of it, so that positions only
	// go forward.
	mu        sync.Mutex
	delivered map[string]span // by the name of the ask, as is
	rests     map[string]bool // what was refused in this round: true where it is the pair that is, which may have been delisted
	again     time.Time       // when a venue that refused something is asked again; zero where none did in this round
	warned    time.Time
}

func (c Config) pastSpans() pastSpans {
	return pastSpans{config: c, stats: new(source.Stats), now: time.Now, sleep: backoff.Sleep}
}

// begin goes on from a position.
func (s *pastSpans) begin(from engine.Position, sink engine.Sink[*Batch]) error {
	position := pastPosition{Delivered: map[string]span{}}
	if err := from.Decode(&position); err != nil {
		return err
	}
	s.sink, s.delivered, s.rests = sink, position.Delivered, map[string]bool{}
	return nil
}

// round begins a round, in which everything may be asked for.
func (s *pastSpans) round() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.rests)
	s.again = time.Time{}
}

// next is when the round behind one that began then begins: when exchanges tell of another
// step, or soon where one of them refused something.
func (s *pastSpans) next(began time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := began.Add(-pastLag).Truncate(pastEvery).Add(pastEvery + pastLag)
	if !s.again.IsZero() && s.again.Before(next) {
		return s.again
	}
	return next
}

// direction is at which end a span is lengthened.
type direction bool

const (
	newer direction = true
	older direction = false
)

// end is up to when something is asked for, ms: behind its last step that exchanges tell of.
func (s *pastSpans) end(a *ask) int64 { return s.now().Add(-pastLag).UnixMilli()/a.every*a.every + 1 }

// oldest is from when on something is asked for, ms.
func (s *pastSpans) oldest(a *ask) int64 {
	return s.now().Add(-time.Duration(s.config.Depth.Contracts)*day).UnixMilli() / a.every * a.every
}

// window is what is to be asked for at an end of what was emitted, and what will have been
// then; ok is false where nothing is.
func (s *pastSpans) window(way direction, a *ask) (asked, then span, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, rests := s.rests[a.name]; rests {
		return asked, then, false
	}
	oldest, end := s.oldest(a), s.end(a)
	done, ok := s.delivered[a.name]
	if !ok || done.To < oldest {
		first := max(oldest, end-a.window)
		done = span{first, first}
	}
	then = done
	if way == older {
		then.From = max(oldest, done.From-a.window)
		asked = span{then.From, done.From}
		return asked, then, asked.From < asked.To
	}
	then.To = min(end, done.To+a.window)
	asked = span{max(done.From, done.To-a.overlap), then.To}
	return asked, then, done.To < then.To
}

// pending reports whether something is to be asked for at an end.
func (s *pastSpans) pending(way direction, a *ask) bool {
	_, _, ok := s.window(way, a)
	return ok
}

// step asks for a window at an end of what was emitted, and emits it. What is refused is said,
// and is no error.
func (s *pastSpans) step(ctx context.Context, way direction, a *ask) error {
	asked, then, ok := s.window(way, a)
	if !ok {
		return nil
	}
	b, err := a.of(ctx, asked.From, asked.To)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		pair := ofPair(err)
		if s.rests[a.name] = pair; !pair && s.again.IsZero() {
			s.again = s.now().Add(quietRepeat)
		}
		s.refused(a.name, err)
		return nil
	}
	s.stats.Lines.Add(1)
	s.delivered[a.name] = then
	return s.emit(ctx, b)
}

// restOfPairs has what a venue refused in this round be asked for once more, but for pairs that
// it refuses.
func (s *pastSpans) restOfPairs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.rests, func(_ string, pair bool) bool { return !pair })
}

// complete reports whether all of what is asked for was delivered. What an exchange refuses of the
// pair itself it does not have.
func (s *pastSpans) complete(asks []ask) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range asks {
		a := &asks[i]
		if s.rests[a.name] {
			continue
		}
		if done, ok := s.delivered[a.name]; !ok || done.From > s.oldest(a) || done.To < s.end(a) {
			return false
		}
	}
	return true
}

// sayComplete says of perpetuals that all of their past is stored, once it is.
func (s *pastSpans) sayComplete(ctx context.Context, keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	position, err := engine.PositionOf(pastPosition{s.delivered})
	if err != nil {
		return err
	}
	if err := s.sink.Store(ctx, engine.Delivery[*Batch]{Position: position}); err != nil {
		return err
	}
	b := new(Batch)
	for _, key := range keys {
		b.Stored = append(b.Stored, Stored{Pair: key, What: pairpast.Contracts, Past: pairpast.AllStored, Awaited: true})
	}
	return s.emit(ctx, b)
}

// forget drops what was delivered of what is not to be kept: a checkpoint does not grow, and of
// a perpetual that is asked for again there is a gap. It returns the keys of perpetuals of which
// that says so now.
func (s *pastSpans) forget(ctx context.Context, keep func(name string) bool) (keys []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := new(Batch)
	for name := range s.delivered {
		if keep(name) {
			continue
		}
		delete(s.delivered, name)
		if key, ok := strings.CutPrefix(name, interestName); ok && !isSum(key) {
			keys = append(keys, key)
			b.Stored = append(b.Stored, Stored{Pair: key, What: pairpast.Contracts, Past: pairpast.Nothing})
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return keys, s.emit(ctx, b)
}

// isOfCoin reports whether a name is of what is asked for of perpetuals of several exchanges
// together.
func isOfCoin(name string) bool {
	what, key, _ := strings.Cut(name, " ")
	return what == "rates" || isSum(key)
}

// isSum reports whether a key is that of the open interest of a coin, not of a perpetual.
func isSum(key string) bool {
	return strings.HasSuffix(key, pairseries.Stable("")) || strings.HasSuffix(key, pairseries.CoinMargined(""))
}

// refused says that something was refused. The caller holds s.mu.
func (s *pastSpans) refused(name string, err error) {
	s.stats.Malformed.Add(1)
	if now := s.now(); now.Sub(s.warned) >= quietRepeat {
		s.warned = now
		what, key, _ := strings.Cut(name, " ")
		s.config.Logger.Warn("an exchange does not tell the past of a perpetual; asking again", "what", what, "of", key, "error", fmt.Sprintf("%.200s", err))
	}
}

// emit delivers a batch and where the source stands behind it. The caller holds s.mu.
func (s *pastSpans) emit(ctx context.Context, b *Batch) error {
	position, err := engine.PositionOf(pastPosition{s.delivered})
	if err != nil {
		return err
	}
	s.stats.Seen(s.now(), 0)
	return s.sink(ctx, engine.Delivery[*Batch]{Batch: b, Position: position})
}
