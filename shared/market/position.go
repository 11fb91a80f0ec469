package market

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Positions keeps the open positions of all accounts in perpetuals, as far as
// fills tell them. After a fill a position is its start plus or minus the size,
// and of all fills of an account and coin the last in order counts: so fills may
// come late, twice and in any order, and the result is the same. It is not safe
// for concurrent use. The zero value is empty.
//
// A position that was closed is remembered for a week of fills, so that late
// fills do not open it again. An account and coin that first appear in a fill
// more than a week older than the newest are left out, as its later fills may
// have been forgotten.
type Positions struct {
	coins  map[string]*coinPositions
	newest int64 // time of the newest fill, ms
}

// forgetAfter is how long a closed position is remembered, ms.
const forgetAfter = 7 * dayMs

type coinPositions struct {
	open OpenInterest
	held map[accountID]position // closed ones too
}

// accountID is an address without its 0x.
type accountID [20]byte

type position struct {
	size  Decimal // base units, negative is short
	order Order   // of the last fill
}

// OpenInterest is what all accounts hold in one coin.
type OpenInterest struct {
	Longs, Shorts       int64   // positions
	LongSize, ShortSize Decimal // base units, neither is negative
}

// Add takes a fill in and tells whether anything changed. Fills of spot markets
// and rows that are no executions change nothing.
func (p *Positions) Add(f *Fill) bool {
	if !f.IsTrade() || IsSpot(f.Coin) {
		return false
	}
	var id accountID
	if len(f.Address) != 2+2*len(id) {
		return false // no address that was read as one
	}
	if _, err := hex.Decode(id[:], []byte(f.Address[2:])); err != nil {
		return false
	}
	order := Order{f.Time, f.Seq, f.Tid}
	c := p.coins[f.Coin]
	had, known := position{}, false
	if c != nil {
		had, known = c.held[id]
	}
	if known && order.Compare(had.order) <= 0 || !known && f.Time < p.newest-forgetAfter {
		return false
	}
	if c == nil {
		c = p.coin(strings.Clone(f.Coin))
	}
	now := position{f.EndPosition(), order}
	c.open.count(had.size, -1)
	c.open.count(now.size, 1)
	c.held[id] = now
	p.newest = max(p.newest, f.Time)
	return true
}

func (p *Positions) coin(name string) *coinPositions {
	c := p.coins[name]
	if c == nil {
		if p.coins == nil {
			p.coins = map[string]*coinPositions{}
		}
		c = &coinPositions{held: map[accountID]position{}}
		p.coins[name] = c
	}
	return c
}

// count adds or takes away n positions of a size.
func (o *OpenInterest) count(size Decimal, n int64) {
	if n < 0 {
		size = size.Neg()
	}
	switch sign := size.Sign() * cmp.Compare(n, 0); {
	case sign > 0:
		o.Longs += n
		o.LongSize = o.LongSize.Add(size)
	case sign < 0:
		o.Shorts += n
		o.ShortSize = o.ShortSize.Sub(size)
	}
}

// Len is how many positions are kept, closed ones that are remembered included.
func (p *Positions) Len() (n int) {
	for _, c := range p.coins {
		n += len(c.held)
	}
	return n
}

// Newest is the time of the newest fill, ms; 0 without any.
func (p *Positions) Newest() int64 { return p.newest }

// Coins are those with an open position, in the order of their names.
func (p *Positions) Coins() []string {
	var coins []string
	for coin, c := range p.coins {
		if c.open.Longs+c.open.Shorts > 0 {
			coins = append(coins, coin)
		}
	}
	slices.Sort(coins)
	return coins
}

// Of is the open interest in a coin.
func (p *Positions) Of(coin string) OpenInterest {
	if c := p.coins[coin]; c != nil {
		return c.open
	}
	return OpenInterest{}
}

// AppendJSON forgets the positions that were closed long ago and appends the
// others, sorted:
//
//	{"newest":ms,"coins":{"BTC":["<40 hex digits> <size> <ms> <seq> <tid>", ...], ...}}
func (p *Positions) AppendJSON(b []byte) []byte {
	b = append(b, `{"newest":`...)
	b = strconv.AppendInt(b, p.newest, 10)
	b = append(b, `,"coins":{`...)
	for i, coin := range slices.Sorted(maps.Keys(p.coins)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, coin), ':', '[')
		b = p.coins[coin].appendJSON(b, p.newest-forgetAfter)
		b = append(b, ']')
	}
	return append(b, `}}`...)
}

func (c *coinPositions) appendJSON(b []byte, before int64) []byte {
	type entry struct {
		id accountID
		position
	}
	entries := make([]entry, 0, len(c.held))
	for id, p := range c.held {
		if p.size.IsZero() && p.order.Time < before {
			delete(c.held, id)
			continue
		}
		entries = append(entries, entry{id, p})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.id[:], b.id[:]) })
	for i := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		p := &entries[i]
		b = hex.AppendEncode(append(b, '"'), p.id[:])
		b = AppendText(append(b, ' '), p.size)
		b = strconv.AppendInt(append(b, ' '), p.order.Time, 10)
		b = strconv.AppendInt(append(b, ' '), p.order.Seq, 10)
		b = strconv.AppendInt(append(b, ' '), p.order.Tid, 10)
		b = append(b, '"')
	}
	return b
}

// ParsePositions reads what [Positions.AppendJSON] wrote.
func ParsePositions(body []byte) (*Positions, error) {
	var w struct {
		Newest int64               `json:"newest"`
		Coins  map[string][]string `json:"coins"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("read positions: %w", err)
	}
	p := &Positions{newest: w.Newest}
	for coin, lines := range w.Coins {
		c := p.coin(coin)
		for _, line := range lines {
			id, one, err := parsePosition(line)
			if err != nil {
				return nil, fmt.Errorf("read a position in %s: %w", coin, err)
			}
			c.open.count(c.held[id].size, -1)
			c.open.count(one.size, 1)
			c.held[id] = one
		}
	}
	return p, nil
}

func parsePosition(line string) (id accountID, p position, err error) {
	fields := strings.Split(line, " ")
	if len(fields) != 5 || len(fields[0]) != 2*len(id) {
		return id, p, fmt.Errorf("%.100q is none", line)
	}
	if _, err = hex.Decode(id[:], []byte(fields[0])); err != nil {
		return id, p, err
	}
	if p.size, err = ParseDecimal(fields[1]); err != nil {
		return id, p, err
	}
	for i, to := range [...]*int64{&p.order.Time, &p.order.Seq, &p.order.Tid} {
		if *to, err = strconv.ParseInt(fields[2+i], 10, 64); err != nil {
			return id, p, err
		}
	}
	return id, p, nil
}
