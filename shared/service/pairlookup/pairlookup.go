// Package pairlookup lets functions answer from what is stored of pairs of exchanges, those
// included that the ingester does not follow by itself. Whoever asks for one of these has it
// followed from then on. Until all is stored that an answer is made of the request is refused,
// with when to ask again: an answer is never a part of what there is.
package pairlookup

import (
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/backoff"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairs"
	"quotary/shared/lru"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

const (
	// A request that waits looks after waitFirst, and then after pauses of which each is twice
	// the one before, up to waitPause.
	waitFirst = 200 * time.Millisecond
	waitPause = time.Second

	// askAgain is when a client may ask again, and askAgainFull where its distributor has as
	// many pairs as it may.
	askAgain     = 3 * time.Second
	askAgainFull = time.Hour
)

// Pairs are those of the exchanges. It is safe for concurrent use.
type Pairs struct {
	Patience time.Duration // how long a request waits at most for a pair that nobody asked for before

	series *store.Series
	strong *store.Series // read strongly consistent
	listed *store.View[pairs.View]
	wanted *followrequests.Store
	waited lru.Cache[string, bool] // pairs that were waited for
	lacks  lru.Cache[lackKey, lack]
}

// lackKey is K-lines of a pair in a tier.
type lackKey struct {
	pair string
	tier market.Interval
}

// lack is K-lines that were read and were not all: to read as many of them, or more, is for
// nothing until more of the past is stored.
type lack struct {
	from  int64 // ms: what was stored
	until time.Time
	limit int
}

// holds reports whether K-lines are lacking that are asked for.
func (l *lack) holds(from int64, until time.Time, limit int) bool {
	return l.limit > 0 && l.from == from && limit >= l.limit && until.Before(l.until.Add(time.Minute))
}

// New returns the pairs that are listed in the views.
func New(series *store.Series, listed *store.View[pairs.View], wanted *followrequests.Store) *Pairs {
	strong := *series
	strong.Strong = true
	return &Pairs{Patience: wanted.Wait, series: series, strong: &strong, listed: listed, wanted: wanted}
}

// Lookup returns the pair of a key; false for one that no exchange lists.
func (p *Pairs) Lookup(ctx context.Context, key string) (pairs.Pair, bool, error) {
	all, err := store.OrZero(p.listed.Get(ctx))
	pair, listed := all.Lookup(key)
	return pair, listed, err
}

// Read has read be called until it has read all that an answer is made of, by its own word:
// it is told what is stored, by what of the pair it reads (see package pairpast), before it
// reads, and where to read from: what is stored is written behind the rows, so that these are read
// strongly consistent until nothing more is to come, and always of a pair that is not followed all
// the time. Of a pair that no exchange lists, of a spot pair what only perpetuals have, and of one
// that is followed all but its K-lines, it is called once, and whatever it has read is all. The error is one for the caller where all is
// not stored in time.
func (p *Pairs) Read(ctx context.Context, key, what string, read func(pairpast.Past, *store.Series) (all bool, err error)) error {
	pair, listed, err := p.Lookup(ctx, key)
	if err != nil {
		return err
	}
	if !listed || what == pairpast.Contracts && !pair.Swap || what != pairpast.Klines && pair.Followed {
		_, err := read(pairpast.AllStored, p.series)
		return err
	}
	if !pair.Followed {
		// Where it cannot be written the next request does.
		refused, _ := p.wanted.Want(ctx, api.Caller(ctx).Distributor, []string{key}, api.Now(ctx))
		if len(refused) > 0 {
			return api.LookupsExhausted(askAgainFull, "the pair %s is none of those that are followed all the time, and the keys of your distributor have asked for %d others of that kind in the last day, as many as they may: ask again later", key, p.wanted.Most)
		}
	}
	left := time.Duration(-1)
	for pause := waitFirst; ; pause = min(2*pause, waitPause) {
		past, err := pairpast.Read(ctx, p.series, key, what)
		if err != nil {
			return err
		}
		from := p.strong
		if pair.Followed && past.Complete {
			from = p.series
		}
		if all, err := read(past, from); all || err != nil {
			return err
		}
		if left < 0 {
			left = p.patience(ctx, key, pair.Followed)
		}
		pause = min(pause, left)
		if left -= pause; pause <= 0 {
			p.waited.Set(key, true)
			return api.NotReady(askAgain, "the past of the pair %s is being read from its exchange for the first time: ask again in %.0f seconds", key, askAgain.Seconds())
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Contracts has read be called once all that an exchange tells of the past of a perpetual is
// stored: what there is before may be a part, and to read it would be for nothing.
func (p *Pairs) Contracts(ctx context.Context, key string, read func(*store.Series) error) error {
	return p.Read(ctx, key, pairpast.Contracts, func(past pairpast.Past, series *store.Series) (all bool, err error) {
		if !past.Complete {
			return false, nil
		}
		return true, read(series)
	})
}

// SinceFollowed has read be called once a pair of an exchange is followed, for what no exchange
// tells the past of, and says since when it is where that is not all the time.
func (p *Pairs) SinceFollowed(ctx context.Context, key string, read func() error) error {
	return p.Read(ctx, key, pairpast.Trades, func(past pairpast.Past, _ *store.Series) (all bool, err error) {
		if past == pairpast.Nothing {
			return false, nil
		}
		if past.Minutes > 0 {
			retention.Reached(ctx, time.UnixMilli(past.Minutes).UTC())
		}
		return true, read()
	})
}

// Klines are the newest K-lines of a pair until a time, oldest first.
func (p *Pairs) Klines(ctx context.Context, key string, period market.Period, until time.Time, limit int) (candles []market.Candle, err error) {
	if now := api.Now(ctx); until.After(now) {
		until = now
	}
	err = p.Read(ctx, key, pairpast.Klines, func(past pairpast.Past, series *store.Series) (all bool, err error) {
		of := lackKey{key, period.StoredAs()}
		from := past.From(of.tier)
		lacking, _ := p.lacks.Get(of)
		if from > period.Back(until, limit) || lacking.holds(from, until, limit) { // what there is cannot be all, and to read it would be for nothing
			return false, nil
		}
		candles, err = pairklines.Newest(ctx, series, key, period, until, limit)
		if all = from == 0 || len(candles) == limit && candles[0].OpenTime >= from; !all && err == nil {
			p.lacks.Set(of, lack{from, until, limit})
		}
		return all, err
	})
	return candles, err
}

// patience is how long a request waits for a pair: where none has before, and few of its
// distributor do.
func (p *Pairs) patience(ctx context.Context, key string, followed bool) time.Duration {
	distributor, now := api.Caller(ctx).Distributor, api.Now(ctx)
	if _, before := p.waited.Get(key); before || p.Patience == 0 || !followed && len(p.wanted.Recent(distributor, []string{key}, now)) == 0 {
		return 0
	}
	if !p.wanted.MayWait(ctx, distributor, now) {
		return 0
	}
	return p.Patience
}
