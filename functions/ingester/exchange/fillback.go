package exchange

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"quotary/shared/market"
)

// historyStep is what a line has next: the minutes of a wanted pair, or a block of the past of
// one.
type historyStep struct {
	pair    market.Pair
	minutes bool
}

// fillUntil fills the past, and asks for the minutes of wanted pairs, in turns until it is time to
// ask for those of the followed ones again. It looks at what clients want all the time.
func (h *history) fillUntil(ctx context.Context, next time.Time) error {
	for h.now().Before(next) {
		if err := h.want(ctx); err != nil {
			return err
		}
		some, err := h.turn(ctx)
		if err != nil {
			return err
		}
		if pause := min(next.Sub(h.now()), wantedEvery); !some && pause > 0 {
			if err := h.sleep(ctx, pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn makes the step whose turn it is; some is false where there is none. Who wants many pairs,
// each of which begins with all of its days and the minutes of one, has no more of the venue's
// requests than who wants one, or than the past of what is followed.
func (h *history) turn(ctx context.Context) (some bool, err error) {
	lines := map[string]historyStep{}
	if step, ok := h.oldest(h.pairs); ok {
		lines[followedLine] = step
	}
	for _, of := range h.wants {
		if step, ok := h.first(of.Things); ok {
			lines[of.Distributor] = step
		}
	}
	some = h.turns.ServeOne(lines, strings.Compare, func(step historyStep) (cost int) {
		before := h.stats.Lines.Load()
		err = h.step(ctx, step)
		return int(max(1, h.stats.Lines.Load()-before))
	})
	return some, err
}

func (h *history) step(ctx context.Context, step historyStep) error {
	if step.minutes {
		h.asked[step.pair.Key] = true
		return h.try(ctx, step.pair, h.confirm)
	}
	before := h.filled[step.pair.Key]
	err := h.try(ctx, step.pair, h.fillBack)
	h.stuck[step.pair.Key] = h.filled[step.pair.Key] == before
	return err
}

// first is the first step of wanted pairs: minutes before the past.
func (h *history) first(pairs []market.Pair) (step historyStep, ok bool) {
	for _, pair := range pairs {
		if !h.asked[pair.Key] {
			return historyStep{pair, true}, true
		}
	}
	return h.oldest(pairs)
}

// oldest is a block of the pair of which the least is filled.
func (h *history) oldest(pairs []market.Pair) (step historyStep, ok bool) {
	least := int64(0)
	for _, pair := range pairs {
		p, known := h.filled[pair.Key]
		if !known || p.Back == 0 || h.stuck[pair.Key] {
			continue
		}
		back := p.Back
		if p.First == 0 {
			back = math.MaxInt64 // its days come first
		}
		if back > least {
			step, ok, least = historyStep{pair: pair}, true, back
		}
	}
	return step, ok
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
		p.First = max(run.Candles[0].OpenTime, day.Milliseconds()) // 0 would have all days asked for, and written, for ever
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
