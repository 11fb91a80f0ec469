package projection

import (
	"quotary/shared/data/funding"
	"quotary/shared/market"
	"quotary/shared/store"
)

// fundings makes the hourly rows. What the venue says it paid is final. Until it
// has said so, a provisional row stands for it: of the rate that a node's files
// tell, who leave out the premium, or of what a coin's figures last gave before
// the hour, as the venue pays what it last showed but for the samples of the last
// seconds.
type fundings struct {
	final map[string]int64            // by coin: the newest hour that is final, ms
	told  map[string]int64            // by coin: the newest hour of which a node told the rate, ms
	shown map[string]shownRate        // by coin: what its figures last gave
	rows  map[fundingKey]funding.Hour // to be written
	order []fundingKey                // of rows
}

type fundingKey struct {
	coin string
	hour int64 // ms
}

type shownRate struct {
	rate, premium string
	time          int64 // ms
}

// shownFor is how old the last rate before an hour may be to stand for it, ms.
const shownFor = 150_000

func newFunding() fundings {
	return fundings{final: map[string]int64{}, told: map[string]int64{}, shown: map[string]shownRate{}, rows: map[fundingKey]funding.Hour{}}
}

func (p *fundings) paid(f *market.Funding) {
	hour := market.Hour1.StartMs(f.Time)
	if f.Premium == "" {
		p.stand(f, hour)
		return
	}
	p.put(fundingKey{f.Coin, hour}, funding.Hour{Funding: *f})
	p.final[f.Coin] = max(p.final[f.Coin], hour)
}

// stand takes a rate whose premium is not told: that of the figures before the
// hour completes it, or 0 where there are none.
func (p *fundings) stand(f *market.Funding, hour int64) {
	if hour <= p.final[f.Coin] {
		return
	}
	row := funding.Hour{Funding: *f, Provisional: true}
	row.Premium = "0.0"
	if last := p.shown[f.Coin]; last.time > 0 && last.time <= f.Time && f.Time-last.time <= shownFor {
		row.Premium = last.premium
	}
	p.told[f.Coin] = max(p.told[f.Coin], hour)
	p.put(fundingKey{f.Coin, hour}, row)
}

func (p *fundings) put(key fundingKey, f funding.Hour) {
	if _, ok := p.rows[key]; !ok {
		p.order = append(p.order, key)
	}
	p.rows[key] = f
}

// show notes the rates of figures, and makes a row of those before when an hour
// has passed between the two. This happens only in the life that saw both, so it
// never replaces what an earlier life was told.
func (p *fundings) show(c *market.Contexts) {
	if c.Spot {
		return
	}
	for i := range c.Coins {
		one := &c.Coins[i]
		if one.Funding == "" {
			continue
		}
		last := p.shown[one.Coin]
		hour := market.Hour1.StartMs(c.Time)
		if last.time > 0 && last.time < hour && c.Time-last.time <= shownFor && p.final[one.Coin] < hour && p.told[one.Coin] < hour {
			f := market.Funding{Coin: one.Coin, Rate: last.rate, Premium: last.premium, Time: hour}
			p.put(fundingKey{one.Coin, hour}, funding.Hour{Funding: f, Provisional: true})
		}
		if c.Time >= last.time {
			shown := shownRate{one.Funding, one.Premium, c.Time}
			if shown.premium == "" {
				shown.premium = "0.0"
			}
			p.shown[one.Coin] = shown
		}
	}
}

func (p *fundings) changes(rows []store.SeriesRow) []store.SeriesRow {
	for _, key := range p.order {
		hour := p.rows[key]
		rows = append(rows, funding.Row(&hour))
	}
	clear(p.rows)
	p.order = p.order[:0]
	return rows
}
