package traderhistory

import (
	"maps"
	"slices"

	"quotary/shared/data/routes"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
)

// Routed is a part of an hour whose builders have routed what is known of that by now, and all others
// nothing: a builder that did nothing else has a row too.
func Routed(p *tablefile.Part, by *routes.Routes) *tablefile.Part {
	others := map[table.Address]bool{} // builders that did nothing else
	for _, b := range by.Builders() {
		others[b] = true
	}
	for _, a := range p.Addresses {
		delete(others, a)
	}
	all := slices.AppendSeq(slices.Clone(p.Addresses), maps.Keys(others))
	list, incomplete := make([]Did, len(all)), []int{} // rows
	for row, a := range all {
		routed := by.Of(a, 0)
		if routed.Unknown > 0 {
			incomplete = append(incomplete, row)
		}
		list[row] = Did{a, &market.Facts{Routed: routed}}
	}
	routed := Part(list)
	return &tablefile.Part{
		Addresses: all,
		Values: func(column int) ([]int64, table.Bits, error) {
			if isRouted(column) {
				values, has, err := routed.Values(column)
				for _, row := range incomplete {
					values[row] = unknown
					has.Set(row)
				}
				return values, has, err
			}
			values, has, err := p.Values(column)
			if err != nil {
				return nil, nil, err
			}
			bits := table.NewBits(len(list))
			copy(bits, has)
			return append(values, make([]int64, len(others))...), bits, nil
		},
		Names: func(column int) ([][]string, error) {
			if isRouted(column) {
				return routed.Names(column)
			}
			names, err := p.Names(column)
			return append(names, make([][]string, len(others))...), err
		},
	}
}
