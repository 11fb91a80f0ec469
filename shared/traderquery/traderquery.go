// Package traderquery makes of what clients ask about traders a query of their table, and of what
// it finds the rows of an answer. It knows no HTTP and reads nothing.
//
// A field is asked for by its name ([traderfields.Fields]). Of one that is bound to periods the
// period is that which the name ends in, else that of the filter, else that of the question. An
// error names the part of the question that is at fault and says what is accepted.
package traderquery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// Question is a query of the table, and what is shown of the traders that it finds.
type Question struct {
	Query  table.Query
	Show   []int // columns whose values the rows of the answer need
	shown  []shown
	tags   []Tag // whose columns are behind those of shown
	lang   string
	places map[int]int // of the columns in Show

	period   traderfields.Period
	ofWindow bool // it is about a window of the past
}

// shown is a field of a row.
type shown struct {
	name  string // as it was asked for
	field *traderfields.Field
	place int // of its value among those of a row
	count int // of a list of texts the place of how many they are
}

// DefaultOrder is the field by which traders are ordered, the greatest first, where nobody says.
const DefaultOrder = "totalPnl"

// usual are the fields of a row where nobody says which.
var usual = []string{
	"avgDurationMin", "positionCount", "winRate", "longRatio", "totalPnl", "longPnl", "shortPnl", "avgLeverage",
	"snapTotalValue", "snapPerpValue", "snapTotalMarginUsed", "snapPositionCount", "oaLastOrderAt",
}

// addressField is in every row.
const addressField = "address"

// Discover is the question of a request, of which relative times are before now.
func Discover(in *catalog.DiscoverIn, now time.Time) (*Question, error) {
	q := &Question{lang: in.Lang, places: map[int]int{}, period: traderfields.Period(in.Period)}
	if err := q.ask(in, traders.Coins(q.period), usual, now); err != nil {
		return nil, err
	}
	for _, name := range in.Tags {
		t, ok := TagNamed(name)
		if !ok {
			return nil, fmt.Errorf("invalid tags: there is no tag %q: one of %s is accepted, in either language", name, tagNames())
		}
		q.Query.Filters = append(q.Query.Filters, t.filters...)
	}
	if in.LoadTags && !in.CountOnly {
		q.showTags()
	}
	return q, nil
}

// mostColumns is how many columns a question reads at most beside those of tags: each is read for all
// traders. All fields of one period are fewer.
const mostColumns = 150

// columns is how many columns the question reads, each once.
func (q *Question) columns() int {
	n := len(q.Show)
	for _, column := range q.Query.Columns() {
		if _, shown := q.places[column]; !shown {
			n++
		}
	}
	return n
}

// ask takes in what questions of both kinds have: coins is the column of what was traded, usual are the
// fields that are shown where nobody says which.
func (q *Question) ask(in *catalog.DiscoverIn, coins int, usual []string, now time.Time) (err error) {
	if q.Query.Order, q.Query.Ascending, err = q.order(in.Sort); err != nil {
		return err
	}
	for i := range in.Filters {
		if err := q.filter(&in.Filters[i], now); err != nil {
			return fmt.Errorf("invalid filters[%d].%w", i, err)
		}
	}
	q.Query.Sets = append(q.Query.Sets, sets(in, coins)...)
	q.Query.Addresses = addressesOf(in.Addrs)
	if len(in.Selects) > 0 {
		usual = in.Selects
	}
	if err := q.show(usual); err != nil {
		return err
	}
	if n := q.columns(); n > mostColumns {
		return fmt.Errorf("invalid selects: %d figures are asked for with those of filters and sort, a field in each period counting as one: at most %d are accepted", n, mostColumns)
	}
	if !in.CountOnly {
		q.Query.Limit, q.Query.Offset = int(in.PageSize), int((in.PageNum-1)*in.PageSize)
	}
	return nil
}

// order is the column by which traders are ordered.
func (q *Question) order(s *catalog.DiscoverSort) (column int, ascending bool, err error) {
	name := DefaultOrder
	if s != nil {
		if s.Field != "" {
			name = s.Field
		}
		switch {
		case s.Dir == "", strings.EqualFold(s.Dir, "desc"):
		case strings.EqualFold(s.Dir, "asc"):
			ascending = true
		default:
			return 0, false, fmt.Errorf("invalid sort.dir: must be asc or desc")
		}
	}
	column, field, err := q.columnOf(name, q.period)
	switch {
	case err != nil:
		return 0, false, fmt.Errorf("invalid sort.field: %w", err)
	case field.IsText():
		return 0, false, fmt.Errorf("invalid sort.field: %s is a text, by which traders are not ordered: a number or a date is accepted", field.Name)
	}
	return column, ascending, nil
}

// sets are the conditions on what was traded.
func sets(in *catalog.DiscoverIn, column int) (all []table.SetFilter) {
	for _, s := range []struct {
		coins []catalog.Coin
		kind  table.SetKind
	}{{in.Coins, table.All}, {in.AnyCoins, table.Any}, {in.NoCoins, table.None}, {in.LimitCoins, table.Only}} {
		if len(s.coins) == 0 {
			continue
		}
		f := table.SetFilter{Column: column, Kind: s.kind}
		for _, c := range s.coins {
			f.Names = append(f.Names, string(c))
		}
		all = append(all, f)
	}
	return all
}

// show adds fields to the rows.
func (q *Question) show(names []string) error {
	for _, name := range names {
		if name == addressField {
			continue
		}
		column, field, err := q.columnOf(name, q.period)
		if err != nil {
			return fmt.Errorf("invalid selects: %w", err)
		}
		s := shown{name: name, field: field, place: q.place(column)}
		if field.Kind == traderfields.Names {
			counts, _ := traders.Column(field.Counted)
			s.count = q.place(counts)
		}
		q.shown = append(q.shown, s)
	}
	return nil
}

// place is that of the value of a column in a row, each once.
func (q *Question) place(column int) int {
	place, ok := q.places[column]
	if !ok {
		place = len(q.Show)
		q.places[column] = place
		q.Show = append(q.Show, column)
	}
	return place
}

// Rows are the traders that were found, as they are shown.
func (q *Question) Rows(found []tablefile.Row) []catalog.DiscoverRow {
	rows := make([]catalog.DiscoverRow, len(found))
	for i := range found {
		row := catalog.DiscoverRow{addressField: market.AddressOf(found[i].Address)}
		for _, s := range q.shown {
			row[s.name] = s.of(&found[i])
		}
		if q.tags != nil {
			row["tags"] = q.Tags(&found[i])
		}
		rows[i] = row
	}
	return rows
}

// of is what a row of the table has of the field; nil where that is not known.
func (s *shown) of(row *tablefile.Row) any {
	switch {
	case s.field.Kind == traderfields.Names:
		return list(row.NamesAt(s.place), row.Values[s.count])
	case s.field.IsText():
		return text(row.NamesAt(s.place))
	}
	return value(s.field, row.Values[s.place])
}

// fields are all of them by their names.
var fields = func() map[string]*traderfields.Field {
	byName := map[string]*traderfields.Field{}
	for i := range traderfields.Fields {
		byName[traderfields.Fields[i].Name] = &traderfields.Fields[i]
	}
	return byName
}()

// withheld is what the names of fields begin with that the documents name and nobody may ask for.
const withheld = "adFirst"

// mostName bounds the name of a field, in bytes: what is longer is none, and not repeated.
const mostName = 64

// columnOf is the column that a name asks for in a period.
func (q *Question) columnOf(name string, period traderfields.Period) (column int, field *traderfields.Field, err error) {
	if len(name) > mostName {
		return 0, nil, fmt.Errorf("no field has a name of more than %d characters", mostName)
	}
	field, period, suffix := fieldOf(name, period)
	switch {
	case strings.HasPrefix(name, withheld):
		return 0, nil, fmt.Errorf("%q is not open to callers", name)
	case field == nil && q.ofWindow:
		return 0, nil, fmt.Errorf("no field is named %q: one of the guide's is accepted", name)
	case field == nil:
		return 0, nil, fmt.Errorf("no field is named %q: one of the guide's is accepted, with 1d, 7d or 30d behind it for a period", name)
	case q.ofWindow:
		column, err = windowColumn(field, suffix)
		return column, field, err
	case field.Periods == nil && suffix != "":
		return 0, nil, fmt.Errorf("%s is not bound to a period: it is accepted without %s", field.Name, suffix)
	case field.Periods != nil && !slices.Contains(field.Periods, period):
		return 0, nil, fmt.Errorf("%s is not known of %s: its period must be one of %s", field.Name, inWords(period), daysOf(field.Periods))
	}
	of := traderfields.Column{Field: field, Period: period}
	column, _ = traders.Column(of.Name())
	return column, field, nil
}

// fieldOf is the field of a name, nil where there is none, and the period that is asked for: that
// of its suffix, where it has one.
func fieldOf(name string, period traderfields.Period) (*traderfields.Field, traderfields.Period, string) {
	if f := fields[name]; f != nil {
		return f, period, ""
	}
	for _, p := range traderfields.Periods {
		if short, ok := strings.CutSuffix(name, p.Suffix()); ok && fields[short] != nil {
			return fields[short], p, p.Suffix()
		}
	}
	return nil, period, ""
}

func inWords(p traderfields.Period) string {
	switch p {
	case traderfields.AllTime:
		return "period 0 (all time)"
	case traderfields.Day, traderfields.Week, traderfields.Month:
	}
	return fmt.Sprintf("period %d", int(p))
}

func daysOf(periods []traderfields.Period) string {
	var days []string
	for _, p := range periods {
		days = append(days, strings.TrimPrefix(inWords(p), "period "))
	}
	return strings.Join(days, ", ")
}
