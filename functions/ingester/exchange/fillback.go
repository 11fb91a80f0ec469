package exchange

import (
	"context"
	"fmt"
	"time"

	"quotary/shared/market"
)

// fillUntil fills the past, a block of each pair in turn, until it is time to ask for
// minutes again. It looks at what clients want all the time.
func (h *history) fillUntil(ctx context.Context, next time.Time) error {
	for h.now().Before(next) {
		if err := h.want(ctx); err != nil {
			return err
		}
		filling, err := h.fill(ctx, next)
		if err != nil {
			return err
		}
		if pause := min(next.Sub(h.now()), wantedEvery); !filling && pause > 0 {
			if err := h.sleep(ctx, pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill fills a block of each pair, until a time at most: of those that clients want before
// any of the others, as they are refused meanwhile. It reports whether there may be more.
func (h *history) fill(ctx context.Context, until time.Time) (filling bool, err error) {
	for _, pairs := range [...][]market.Pair{h.pairs[h.followed:], h.pairs[:h.followed]} {
		if filling, err = h.fillEach(ctx, pairs, until); filling || err != nil {
			break
		}
	}
	return filling, err
}

func (h *history) fillEach(ctx context.Context, pairs []market.Pair, until time.Time) (filling bool, err error) {
	for _, pair := range pairs {
		if !h.now().Before(until) {
			return false, nil
		}
		before, known := h.filled[pair.Key]
		if !known || before.Back == 0 {
			continue
		}
		if err := h.try(ctx, pair, h.fillBack); err != nil {
			return false, err
		}
		filling = filling || h.filled[pair.Key] != before
	}
	return filling, nil
}

// bounds are from when on minutes and hours are filled, ms.
func (h *history) bounds(p progress) (minutes, hours int64) {
	minutes = p.Since - int64(h.config.Depth.Minutes)*day.Milliseconds()
	return minutes, min(minutes, p.Since-int64(h.config.Depth.Hours)*day.Milliseconds())
}

// fillBack emits the block of the past before what is filled: all days first, which say
// when trading began, and then from the newest on what days are composed of.
func (h *history) fillBack(ctx context.Context, pair market.Pair) error {
	p := h.filled[pair.Key]
	minutes, hours := h.bounds(p)
	run := market.CandleRun{Pair: pair.Key, To: p.Back}
	switch {
	case p.First == 0:
		days, err := h.days(ctx, pair, &p)
		if err != nil {
			return err
		}
		h.filled[pair.Key] = p
		if err := h.emit(ctx, &Batch{Past: []market.CandleRun{days}}); err != nil {
			return err
		}
		return h.say(ctx, pair.Key)
	case p.Back > minutes:
		run.Interval, run.From = market.Minute1, p.Back-day.Milliseconds()
	case p.Back > hours:
		run.Interval, run.From = market.Hour1, max(hours, p.Back-hourBlock.Milliseconds())
	default:
		run.Interval, run.From = market.Hour4, p.Back-wideBlock.Milliseconds()
	}
	run.From = max(run.From, p.First)
	if err := h.read(ctx, pair, &run); err != nil {
		return err
	}
	if p.Back = run.From; p.Back <= p.First {
		p.Back = 0
	}
	h.filled[pair.Key] = p
	if err := h.emit(ctx, &Batch{Past: []market.CandleRun{run}}); err != nil {
		return err
	}
	return h.say(ctx, pair.Key)
}

// days asks for all days of a pair before what is filled, and notes when trading began.
func (h *history) days(ctx context.Context, pair market.Pair, p *progress) (market.CandleRun, error) {
	run := market.CandleRun{Pair: pair.Key, Interval: market.Day1, To: p.Back}
	if err := h.read(ctx, pair, &run); err != nil {
		return run, err
	}
	p.First = run.To
	if len(run.Candles) > 0 {
		p.First = run.Candles[0].OpenTime
	}
	if p.Back <= p.First {
		p.Back = 0
	}
	return run, nil
}

// read asks for all candles of a run.
func (h *history) read(ctx context.Context, pair market.Pair, run *market.CandleRun) error {
	pages, err := readRun(ctx, h.venue, pair, run)
	h.stats.Lines.Add(pages)
	return err
}

// readRun asks a venue for all candles of a run, and returns how many answers they were in.
func readRun(ctx context.Context, v Venue, pair market.Pair, run *market.CandleRun) (pages int64, err error) {
	for from := run.From; from < run.To; {
		page, err := v.Klines(ctx, pair, run.Interval, from, v.KlinesMost())
		if err != nil {
			return pages, err
		}
		pages++
		if page.To == from {
			return pages, fmt.Errorf("%s of %s end at %s, before what was asked for", run.Interval, pair.Key, time.UnixMilli(from).UTC().Format(time.RFC3339))
		}
		for _, c := range page.Candles {
			if c.OpenTime < run.To {
				run.Candles = append(run.Candles, c)
			}
		}
		from = page.To
	}
	return pages, nil
}
