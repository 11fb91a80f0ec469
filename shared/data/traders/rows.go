package traders

import (
	"fmt"

	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// Rows collects the rows of a part in less than a kilobyte each, so that there may be more of them
// than there is room for what they are made of. The zero value has none.
type Rows struct {
	Which func(*traderfields.Field) bool // the figures that the rows have, and no sets; nil is all, and sets

	addresses []table.Address
	blocks    []rowsBlock
	dropped   map[int]bool // places of addresses
}

// rowsBlock is the rows of one call of Add: a block of each column.
type rowsBlock struct {
	rows    int
	figures []table.Block
	sets    []table.SetBlock
}

// Len is how many rows there are.
func (r *Rows) Len() int { return len(r.addresses) - len(r.dropped) }

// Drop drops rows, so that they may be added again.
func (r *Rows) Drop(which func(table.Address) bool) {
	for at, a := range r.addresses {
		if which(a) {
			if r.dropped == nil {
				r.dropped = map[int]bool{}
			}
			r.dropped[at] = true
		}
	}
}

// Add takes in traders, at most [table.BlockRows] at once, each once in all unless it was dropped.
func (r *Rows) Add(list []Trader) error {
	part, b := Part(list), rowsBlock{rows: len(list), figures: make([]table.Block, len(figures)), sets: make([]table.SetBlock, len(columns)-len(figures))}
	for i := range columns {
		var err error
		if r.Which != nil && (i >= len(figures) || !r.Which(figures[i].Field)) {
			continue
		}
		if i < len(figures) {
			b.figures[i], err = blockOf(part, i)
		} else {
			b.sets[i-len(figures)], err = setBlockOf(part, i)
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", columns[i].Name, err)
		}
	}
	r.addresses, r.blocks = append(r.addresses, part.Addresses...), append(r.blocks, b)
	return nil
}

func blockOf(part *tablefile.Part, column int) (table.Block, error) {
	values, known, err := part.Values(column)
	if err != nil {
		return table.Block{}, err
	}
	return table.NewBlock(values, known)
}

func setBlockOf(part *tablefile.Part, column int) (table.SetBlock, error) {
	names, err := part.Names(column)
	if err != nil {
		return table.SetBlock{}, err
	}
	sets := map[string][]uint16{}
	for row, of := range names {
		for _, name := range of {
			sets[name] = append(sets[name], uint16(row)) //nolint:gosec // a block has no more rows
		}
	}
	return table.NewSetBlock(len(names), sets)
}

// Part is what a file is made of that has those rows which take chooses; nil takes all.
func (r *Rows) Part(take func(table.Address) bool) *tablefile.Part {
	p, chosen := new(tablefile.Part), make([][]int, len(r.blocks))
	at := 0
	for n, b := range r.blocks {
		for row := range b.rows {
			if a := r.addresses[at+row]; !r.dropped[at+row] && (take == nil || take(a)) {
				p.Addresses = append(p.Addresses, a)
				chosen[n] = append(chosen[n], row)
			}
		}
		at += b.rows
	}
	p.Values = func(column int) ([]int64, table.Bits, error) {
		values, known, to := make([]int64, len(p.Addresses)), table.NewBits(len(p.Addresses)), 0
		for n := range r.blocks {
			for _, row := range chosen[n] {
				if v, ok := r.blocks[n].figures[column].At(row); ok {
					values[to] = v
					known.Set(to)
				}
				to++
			}
		}
		return values, known, nil
	}
	p.Names = func(column int) ([][]string, error) {
		names := make([][]string, 0, len(p.Addresses))
		for n := range r.blocks {
			all := r.blocks[n].sets[column-len(figures)].Names()
			for _, row := range chosen[n] {
				names = append(names, all[row])
			}
		}
		return names, nil
	}
	return p
}
