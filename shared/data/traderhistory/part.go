package traderhistory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// Columns are those of the files, in their order. They are not to be changed.
func Columns() []tablefile.Column { return columns }

// Did is what an account did in an hour.
type Did struct {
	Address table.Address
	Facts   *market.Facts
}

// Part is what the file of an hour is made of, of accounts that are in it once.
func Part(list []Did) *tablefile.Part {
	p := &tablefile.Part{Addresses: make([]table.Address, len(list))}
	for i := range list {
		p.Addresses[i] = list[i].Address
	}
	p.Values = func(column int) ([]int64, table.Bits, error) {
		values, known := make([]int64, len(list)), table.NewBits(len(list))
		c := &components[column]
		for i := range list {
			v, ok := c.get(list[i].Facts)
			if !ok {
				continue
			}
			known.Set(i)
			if values[i], ok = traderfields.Units(v, c.Scale); !ok {
				values[i] = unknown
			}
		}
		return values, known, nil
	}
	p.Names = func(column int) ([][]string, error) {
		names := make([][]string, len(list))
		for i := range list {
			if column == coinsColumn {
				names[i] = list[i].Facts.Coins
				continue
			}
			for _, c := range distincts[column-firstContinued].of(list[i].Facts).Continued {
				names[i] = append(names[i], continued(c))
			}
		}
		return names, nil
	}
	return p
}

// continued is how many things happened again that had happened last in an hour, as a text: the hour,
// counted from 1970 on, and the number.
func continued(c market.Continued) string {
	return strconv.FormatInt(c.Hour/hourMs, 10) + "x" + strconv.FormatInt(c.N, 10)
}

func parseContinued(text string) (c market.Continued, ok bool) {
	hour, n, _ := strings.Cut(text, "x")
	at, err := strconv.ParseInt(hour, 10, 64)
	if err != nil || at < 0 || at > market.MaxTime/hourMs {
		return c, false
	}
	c.Hour = at * hourMs
	c.N, err = strconv.ParseInt(n, 10, 64)
	return c, err == nil
}

// Sum is a part of what files of times that follow each other come to, of which the first begins at
// from, ms. Columns are read while the part is written, one after the other.
func Sum(ctx context.Context, from int64, files []*tablefile.File) (*tablefile.Part, error) {
	s := summing{from: from, parts: make([]*tablefile.Part, len(files)), rows: make([][]int, len(files))}
	var addresses []table.Address
	places := map[table.Address]int{}
	for i, f := range files {
		part, err := tablefile.Merge(ctx, columns, []*tablefile.File{f}, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("add up the history: %w", err)
		}
		for _, a := range part.Addresses {
			at, known := places[a]
			if !known {
				at = len(addresses)
				places[a] = at
				addresses = append(addresses, a)
			}
			s.rows[i] = append(s.rows[i], at)
		}
		s.parts[i] = part
	}
	s.n = len(addresses)
	return &tablefile.Part{Addresses: addresses, Values: s.values, Names: s.names}, nil
}

// summing is what a sum is made of: parts, and which rows theirs become.
type summing struct {
	from  int64
	n     int
	parts []*tablefile.Part
	rows  [][]int
}

func (s *summing) values(column int) ([]int64, table.Bits, error) {
	sums, known := make([]int64, s.n), table.NewBits(s.n)
	for i, p := range s.parts {
		values, has, err := p.Values(column)
		if err != nil {
			return nil, nil, err
		}
		for row, at := range s.rows[i] {
			if has.Has(row) {
				components[column].addTo(sums, known, at, values[row])
			}
		}
	}
	return sums, known, nil
}

// addTo adds a value to that of a row.
func (c *component) addTo(sums []int64, known table.Bits, row int, v int64) {
	if known.Has(row) {
		v = c.merged(sums[row], v)
	}
	sums[row] = v
	known.Set(row)
}

func (s *summing) names(column int) ([][]string, error) {
	names := make([][]string, s.n)
	for i, p := range s.parts {
		of, err := p.Names(column)
		if err != nil {
			return nil, err
		}
		for row, at := range s.rows[i] {
			names[at] = append(names[at], of[row]...)
		}
	}
	for at := range names {
		if column == coinsColumn {
			slices.Sort(names[at])
			names[at] = slices.Compact(names[at])
		} else {
			names[at] = s.continued(names[at])
		}
	}
	return names, nil
}

// continued adds up what had happened before: what had so within the sum itself is counted there.
func (s *summing) continued(texts []string) []string {
	n := map[int64]int64{} // by hours, of which a builder's traders have as many as there are
	for _, text := range texts {
		if c, ok := parseContinued(text); ok && c.Hour < s.from {
			n[c.Hour] += c.N
		}
	}
	texts = texts[:0]
	for _, hour := range slices.Sorted(maps.Keys(n)) {
		if n[hour] != 0 {
			texts = append(texts, continued(market.Continued{Hour: hour, N: n[hour]}))
		}
	}
	return texts
}
