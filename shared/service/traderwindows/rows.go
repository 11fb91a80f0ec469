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
	var need []int
	worth := false
	for _, f := range show {
		if _, held := heldColumn(f); !held {
			need = append(need, traderhistory.Needs(&traderfields.Fields[f])...)
			worth = worth || isWorth(&traderfields.Fields[f])
		}
	}
	slices.Sort(need)
	need = slices.Compact(need)
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
		sums.Facts(i, &did.Did)
		of := traderhistory.Trader(did)
		if worth {
			of.Worth = map[traderfields.Period]traderfields.Worth{traderhistory.Period: traderhistory.Ends(&ends[0][i], &ends[1][i])}
		}
		for k, f := range show {
			var v int64
			var known bool
			if held, ok := heldColumn(f); ok {
				v, known = parts[at.Part].At(at.Row, held)
			} else {
				v, known = traderfields.Fields[f].Figure(&of, traderhistory.Period)
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
	files, err := c.files.Parts(ctx, c.named, need)
	if err != nil {
		return nil, err
	}
	for _, p := range files {
		for i := range rows {
			if row, ok := p.Find(rows[i].Address); ok {
				sums.AddRow(p, row, i)
			}
		}
	}
	return sums, nil
}

// coins makes the column of the perpetuals that were traded.
func (c *columns) coins(ctx context.Context, parts []*table.Part) ([][]table.SetBlock, error) {
	files, err := c.files.Parts(ctx, c.named, []int{traderhistory.Coins()})
	if err != nil {
		return nil, err
	}
	of := map[string]table.Bits{} // of each name the traders
	for i, p := range files {
		places := c.placesOf(c.named[i].Key, p, parts)
		for b := range p.Sets[traderhistory.Coins()] {
			p.Sets[traderhistory.Coins()][b].Each(func(name string, rows iter.Seq[int]) {
				if of[name] == nil {
					of[name] = table.NewBits(c.traders)
				}
				for row := range rows {
					if at := places[b*table.BlockRows+row]; at >= 0 {
						of[name].Set(int(at))
					}
				}
			})
		}
	}
	return setBlocksOf(parts, of)
}

// setBlocksOf makes a column of sets, whose traders are counted through all parts.
func setBlocksOf(parts []*table.Part, of map[string]table.Bits) ([][]table.SetBlock, error) {
	all, trader := make([][]table.SetBlock, len(parts)), 0
	for i, p := range parts {
		for block := range p.Blocks() {
			n, sets := p.RowsOf(block), map[string][]uint16{}
			for name, traders := range of {
				for row := range n {
					if traders.Has(trader + row) {
						sets[name] = append(sets[name], uint16(row)) //nolint:gosec // a block has no more rows
					}
				}
			}
			b, err := table.NewSetBlock(n, sets)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], b)
			trader += n
		}
	}
	return all, nil
}

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
	parts, err := c.worth.Parts(ctx, []tablefile.Named{c.ends[end].Named()}, all)
	if err != nil {
		return nil, fmt.Errorf("read what accounts were worth: %w", err)
	}
	return parts[0], nil
}

// worthFigures makes a column of what accounts were worth.
func (c *columns) worthFigures(ctx context.Context, f *traderfields.Field, parts []*table.Part) ([][]table.Block, error) {
	var ends [2][]traderhistory.Worth
	for i := range ends {
		ends[i] = make([]traderhistory.Worth, c.traders)
		p, err := c.worthPart(ctx, i)
		if err != nil {
			return nil, err
		}
		for row, a := range p.Addresses {
			if at := placeOf(a, parts); at >= 0 {
				ends[i][at] = traderhistory.WorthAt(p, row)
			}
		}
	}
	of := traderfields.Trader{Worth: map[traderfields.Period]traderfields.Worth{}}
	return blocksOf(parts, func(trader int) (int64, bool) {
		of.Worth[traderhistory.Period] = traderhistory.Ends(&ends[0][trader], &ends[1][trader])
		return f.Figure(&of, traderhistory.Period)
	})
}
