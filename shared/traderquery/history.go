package traderquery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/service/traderwindows"
	"quotary/shared/traderfields"
)

// windowGroups are the groups of the fields that a window of the past has.
var windowGroups = []string{"completed positions", "fills", "perp fills", "filled orders", "builders", "liquidation", traderfields.ValueChange, "account snapshot"}

// usualOfWindow are the usual fields as far as a window has them.
var usualOfWindow = slices.DeleteFunc(slices.Clone(usual), func(name string) bool { return !slices.Contains(windowGroups, fields[name].Group) })

// History is the question of a request about a window, and the window: the full hours from the one on that
// the start is in, up to the one that the last moment before the cut-off is in.
func History(in *catalog.DiscoverHistoryIn, now time.Time) (*Question, traderwindows.Window, error) {
	q := &Question{places: map[int]int{}, ofWindow: true}
	same := &catalog.DiscoverIn{
		PageNum: in.PageNum, PageSize: in.PageSize, Sort: in.Sort, Coins: in.Coins, AnyCoins: in.AnyCoins, NoCoins: in.NoCoins, LimitCoins: in.LimitCoins,
		Selects: in.Selects, CountOnly: in.CountOnly, Filters: in.Filters, Addrs: in.Addrs,
	}
	if err := q.ask(same, traderwindows.Coins(), usualOfWindow, now); err != nil {
		return nil, traderwindows.Window{}, err
	}
	start, end := in.Span(now)
	of := traderwindows.Window{From: market.Hour1.StartMs(start.UnixMilli()), To: market.Hour1.StartMs(end.UnixMilli()-1) + int64(time.Hour/time.Millisecond)}
	return q, of, nil
}

// windowColumn is the column of a field of a window.
func windowColumn(field *traderfields.Field, suffix string) (int, error) {
	switch {
	case !slices.Contains(windowGroups, field.Group):
		return 0, fmt.Errorf("%s is of the group %s, of which nothing is known of the past: the groups that are accepted are %s", field.Name, field.Group, strings.Join(windowGroups, ", "))
	case suffix != "":
		return 0, fmt.Errorf("%s is asked for of the window: it is accepted without %s", field.Name, suffix)
	}
	return traderwindows.Column(field), nil
}
