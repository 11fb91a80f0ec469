package traderwindows

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"quotary/shared/data/traderhistory"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// rows are the rows that were found, with some columns: those of the window are made for these traders
// alone.
func (c *columns) rows(ctx context.Context, parts []*table.Part, found []table.Row, show []int) ([]tablefile.Row, error) {
	rows := make([]tablefile.Row, len(found))
	for i, at := range found {
		rows[i] = tablefile.Row{Address: parts[at.Part].Addresses[at.Row], Values: make([]tablefile.Value, len(show))}
	}
	if len(found) == 0 {
		return rows, nil
	}
	worth := slices.ContainsFunc(show, func(f int) bool {
		_, held := heldColumn(f)
		return !held && isWorth(&traderfields.Fields[f])
	})
	need := needs(show)
	sums, err := c.sumsOf(ctx, rows, need)
	if err != nil {
		return nil, err
	}
	var ends [2][]traderhistory.Worth
	if worth {
		if ends, err = c.worthOf(ctx, rows); err != nil {
			return nil, err
		}
	}
	did := new(market.Window)
	for i, at := range found {
		sums.Facts(i, need, &did.Did)
		of := traderhistory.Trader(did)
		if worth {
			of.Worth = map[traderfields.Period]traderfields.Worth{traderhistory.Period: traderhistory.Ends(&ends[0][i], &ends[1][i])}
		}
		for k, f := range show {
			var v int64
			var known bool
			if held, ok := heldColumn(f); ok {
				v, known = parts[at.Part].At(at.Row, held)
			} else if field := &traderfields.Fields[f]; sums.Known(i, traderhistory.Needs(field)) {
				v, known = field.Figure(&of, traderhistory.Period)
			}
			if known {
				rows[i].Values[k] = tablefile.Value{Value: v, Known: true}
			}
		}
	}
	return rows, nil
}

// sumsOf are the sums of a few traders.
func (c *columns) sumsOf(ctx context.Context, rows []tablefile.Row, need []int) (*traderhistory.Sums, error) {
	sums := traderhistory.NewSums(c.From, len(rows), need)
	if len(need) == 0 {
		return sums, nil
	}
	return sums, c.files.Each(ctx, c.named, need, func(_ int, p *table.Part, columns []int) error {
		to := map[int]int{}
		for i := range rows {
			if row, ok := p.Find(rows[i].Address); ok {
				to[row] = i
			}
		}
		sums.AddRows(p, columns, to)
		return nil
	})
}

// coins makes the column of the perpetuals that were traded.
func (c *columns) coins(ctx context.Context, parts []*table.Part) ([]table.SetBlock, error) {
	var blocks []table.SetMaker // of all parts
	var rows []int
	var at []place // of each trader
	for _, p := range parts {
		for b := range p.Blocks() {
			for row := range p.RowsOf(b) {
				at = append(at, place{len(blocks), row})
			}
			blocks, rows = append(blocks, table.SetMaker{}), append(rows, p.RowsOf(b))
		}
	}
	if err := c.files.Each(ctx, c.named, []int{traderhistory.Coins()}, func(file int, p *table.Part, _ []int) error {
		places := c.placesOf(c.named[file].Key, p, parts)
		for b := range p.Sets[traderhistory.Coins()] {
			p.Sets[traderhistory.Coins()][b].Each(func(name string, rows iter.Seq[int]) {
				for row := range rows {
					if trader := places[b*table.BlockRows+row]; trader >= 0 {
						blocks[at[trader].block].Add(name, at[trader].row)
					}
				}
			})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	all := make([]table.SetBlock, len(blocks))
	for i := range all {
		var err error
		if all[i], err = blocks[i].Block(rows[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// place is where a trader is: a block of those of all parts, and a row of it.
type place struct{ block, row int }

// isWorth reports whether a figure is about what accounts were worth at the ends of the window.
func isWorth(f *traderfields.Field) bool {
	return f.Group == traderfields.ValueChange && len(traderhistory.Needs(f)) == 0
}

// worthOf is what traders were worth at the ends of the window.
func (c *columns) worthOf(ctx context.Context, rows []tablefile.Row) (ends [2][]traderhistory.Worth, err error) {
	for i := range ends {
		ends[i] = make([]traderhistory.Worth, len(rows))
		p, err := c.worthPart(ctx, i)
		if err != nil {
			return ends, err
		}
		for k := range rows {
			if row, ok := p.Find(rows[k].Address); ok {
				ends[i][k] = traderhistory.WorthAt(p, row)
			}
		}
	}
	return ends, nil
}

// worthPart is what accounts were worth at an end of the window; without rows where that is not known.
func (c *columns) worthPart(ctx context.Context, end int) (*table.Part, error) {
	if c.ends[end] == nil {
		return table.NewPart(nil), nil
	}
	var all []int
	for i := range traderhistory.WorthColumns() {
		all = append(all, i)
	}
	var of *table.Part
	if err := c.worth.Each(ctx, []tablefile.Named{c.ends[end].Named()}, all, func(_ int, p *table.Part, _ []int) error {
		of = p
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read what accounts were worth: %w", err)
	}
	return of, nil
}

// worthFigures makes a column of what accounts were worth.
func (c *columns) worthFigures(ctx context.Context, f *traderfields.Field, parts []*table.Part) ([]table.Block, error) {
	var ends [2]*table.Part
	var rows [2][]int32 // of each trader one more than the row; 0 where there is none
	for i := range ends {
		p, err := c.worthPart(ctx, i)
		if err != nil {
			return nil, err
		}
		ends[i], rows[i] = p, make([]int32, c.traders)
		for row, a := range p.Addresses {
			if at := placeOf(a, parts); at >= 0 {
				rows[i][at] = int32(row) + 1 //nolint:gosec // a file has fewer rows
			}
		}
	}
	of := traderfields.Trader{Worth: map[traderfields.Period]traderfields.Worth{}}
	return blocksOf(parts, func(trader int) (int64, bool) {
		var at [2]traderhistory.Worth
		for i := range at {
			if row := rows[i][trader]; row > 0 {
				at[i] = traderhistory.WorthAt(ends[i], int(row)-1)
			}
		}
		of.Worth[traderhistory.Period] = traderhistory.Ends(&at[0], &at[1])
		return f.Figure(&of, traderhistory.Period)
	})
}
