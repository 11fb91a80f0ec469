package tablefile

import (
	"context"
	"fmt"

	"quotary/shared/table"
)

// Merge is a part of what files have, and a last part behind them (nil is none): of each address the
// row of the last that has it, without those addresses that leave says (nil leaves none out). Columns
// are read while the part is written, one after the other, so that files of any size can be merged.
// What a file was made without is not known, and in no set.
func Merge(ctx context.Context, columns []Column, files []*File, last *Part, leave func(table.Address) bool) (*Part, error) {
	m := merging{columns: columns}
	for _, f := range files {
		addresses, err := f.Addresses(ctx)
		if err != nil {
			return nil, err
		}
		m.sources = append(m.sources, mergeSource{part: f.part(ctx, columns, addresses)})
	}
	if last != nil {
		m.sources = append(m.sources, mergeSource{part: last})
	}
	addresses := m.choose(leave)
	return &Part{Addresses: addresses, Values: m.values, Names: m.names}, nil
}

// merging is what a merged part is made of.
type merging struct {
	columns []Column
	rows    int
	sources []mergeSource
}

// mergeSource is a part, which of its rows are taken, and which rows they become.
type mergeSource struct {
	part     *Part
	from, to []int
}

// choose chooses the rows, in the order in which their addresses first come.
func (m *merging) choose(leave func(table.Address) bool) (addresses []table.Address) {
	type chosen struct{ at, source, row int }
	of := map[table.Address]*chosen{}
	for n, s := range m.sources {
		for row, a := range s.part.Addresses {
			c := of[a]
			if c == nil {
				if leave != nil && leave(a) {
					continue
				}
				c = &chosen{at: len(addresses)}
				of[a] = c
				addresses = append(addresses, a)
			}
			c.source, c.row = n, row
		}
	}
	for _, a := range addresses {
		c := of[a]
		s := &m.sources[c.source]
		s.from, s.to = append(s.from, c.row), append(s.to, c.at)
	}
	m.rows = len(addresses)
	return addresses
}

func (m *merging) values(column int) ([]int64, table.Bits, error) {
	values, known := make([]int64, m.rows), table.NewBits(m.rows)
	for _, s := range m.sources {
		own, has, err := s.part.Values(column)
		if err != nil {
			return nil, nil, err
		}
		for i, row := range s.from {
			if has.Has(row) {
				values[s.to[i]] = own[row]
				known.Set(s.to[i])
			}
		}
	}
	return values, known, nil
}

func (m *merging) names(column int) ([][]string, error) {
	names := make([][]string, m.rows)
	for _, s := range m.sources {
		own, err := s.part.Names(column)
		if err != nil {
			return nil, err
		}
		for i, row := range s.from {
			names[s.to[i]] = own[row]
		}
	}
	return names, nil
}

// part is the file as it would be written again.
func (f *File) part(ctx context.Context, columns []Column, addresses []table.Address) *Part {
	return &Part{
		Addresses: addresses,
		Values: func(column int) ([]int64, table.Bits, error) {
			of, err := f.column(ctx, columns[column])
			if err != nil {
				return nil, nil, fmt.Errorf("merge a file: %w", err)
			}
			values, known := make([]int64, f.rows), table.NewBits(f.rows)
			for n := range of.Figures {
				first := n * table.BlockRows
				of.Figures[n].Each(func(row int, v int64) {
					values[first+row] = v
					known.Set(first + row)
				})
			}
			return values, known, nil
		},
		Names: func(column int) (rows [][]string, err error) {
			of, err := f.column(ctx, columns[column])
			if err != nil {
				return nil, fmt.Errorf("merge a file: %w", err)
			}
			for i := range of.Sets {
				rows = append(rows, of.Sets[i].Names()...)
			}
			return rows, nil
		},
	}
}
