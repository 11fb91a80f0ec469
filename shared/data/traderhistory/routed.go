package traderhistory

import (
	"quotary/shared/data/routes"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
)

// Routed is a part of an hour whose builders have routed what is known of that by now, and all others
// nothing: a builder that did nothing else has a row too.
func Routed(p *tablefile.Part, known *routes.Routes) *tablefile.Part {
	routed, nothing := map[table.Address]*market.Facts{}, new(market.Facts)
	for _, b := range known.Builders() {
		routed[b] = &market.Facts{Routed: known.Of(b, 0)}
	}
	list := make([]Did, 0, len(p.Addresses)+len(routed))
	for _, a := range p.Addresses {
		of := routed[a]
		if of == nil {
			of = nothing
		}
		list = append(list, Did{a, of})
		delete(routed, a)
	}
	for b, of := range routed {
		list = append(list, Did{b, of})
	}
	all := Part(list)
	return &tablefile.Part{
		Addresses: all.Addresses,
		Values: func(column int) ([]int64, table.Bits, error) {
			if isRouted(column) {
				return all.Values(column)
			}
			values, has, err := p.Values(column)
			if err != nil {
				return nil, nil, err
			}
			bits := table.NewBits(len(list))
			copy(bits, has)
			return append(values, make([]int64, len(routed))...), bits, nil
		},
		Names: func(column int) ([][]string, error) {
			if isRouted(column) {
				return all.Names(column)
			}
			names, err := p.Names(column)
			return append(names, make([][]string, len(routed))...), err
		},
	}
}
