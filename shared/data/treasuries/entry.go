package treasuries

import (
	"cmp"
	_ "embed" // the schema
	"errors"
	"strings"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Entry is a line of a drop of treasuries: what an entity bought or sold of a coin on a day, or how much it held at its end. A difference between what it held and what is known until then counts as bought or sold that day. A later line replaces one of the same entity, coin and id.
type Entry struct {
	// Short name of the coin, such as BTC.
	Coin string `json:"coin" required:"true" pattern:"^[A-Za-z0-9]{1,20}$"`
	// Name of the entity. That of its latest day holds.
	Name string `json:"name" required:"true" maxlen:"100"`
	// Key of the entity's share, as in drops of indices and companies, such as i:mstr:nasdaq: its price and number make the market value. Lines with the same key are of one entity, those without one of that which has their name.
	Key string `json:"key" maxlen:"64" pattern:"^([A-Za-z0-9:._/@+-]+)?$"`
	// Short name of the entity's share, such as MSTR; that in its key where it is absent.
	Ticker string `json:"ticker" maxlen:"20"`
	// What the entity is, such as public-companies, private-companies, governments, etfs or trusts. The holdings of trusts are also listed apart.
	EntityType string `json:"entity_type" maxlen:"40" pattern:"^[a-z0-9-]*$"`
	// Day on which it was, as 2026-11-20, from 1970 on.
	Date string `json:"date" required:"true" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`
	// What is said: buy, sell, or holding for what was held at the end of the day.
	Type string `json:"type" required:"true" enum:"buy|sell|holding"`
	// Coins that were bought, sold or held, as a decimal.
	Amount string `json:"amount" required:"true" maxlen:"40" pattern:"^[0-9]{1,15}([.][0-9]{1,19})?$"`
	// What was paid for those that were bought, or what all that were held have cost, US dollars, as a decimal. Of a purchase it follows from the price where it is absent.
	Cost string `json:"cost_usd" maxlen:"40" pattern:"^([0-9]{1,15}([.][0-9]{1,19})?)?$"`
	// Price of a coin that was paid or received, US dollars, as a decimal. Of a purchase it follows from the cost where it is absent.
	Price string `json:"price_usd" maxlen:"40" pattern:"^([0-9]{1,15}([.][0-9]{1,19})?)?$"`
	// Price of the entity's share on that day, in its currency, as a decimal.
	StockPrice string `json:"stock_price" maxlen:"40" pattern:"^([0-9]{1,15}([.][0-9]{1,19})?)?$"`
	// Name of the line among those of the entity and coin, for several of one type and day; where it is absent the type and the day are its name.
	ID string `json:"id" maxlen:"64"`
	// Whether the line that this one replaces was wrong, and nothing comes in its place.
	Removed bool `json:"removed"`
}

var (
	lines = drop.TypeOf[Entry]()

	// Schema is the JSON Schema of a line.
	//go:embed treasuries.schema.json
	Schema []byte

	errDate   = errors.New("date must be a day from 1970-01-01 on, as 2026-11-20")
	errFuture = errors.New("date must not be later than the day after the file was put")
	errNone   = errors.New("amount must be more than 0 of what was bought or sold")
)

// Parse reads a line of a drop. The error says what is wrong, for whoever wrote it.
func Parse(line []byte, at drop.Place) (Dropped, error) {
	e, err := lines.Decode(line)
	if err != nil {
		return Dropped{}, err
	}
	e.Coin = strings.ToUpper(e.Coin)
	if _, err := time.Parse(time.DateOnly, e.Date); err != nil || e.Date < market.FirstDay {
		return Dropped{}, errDate
	}
	if e.Date > time.UnixMilli(at.Time).UTC().AddDate(0, 0, 1).Format(time.DateOnly) {
		return Dropped{}, errFuture
	}
	if amount, _ := market.ParseDecimal(e.Amount); amount.IsZero() && e.Type != holding {
		return Dropped{}, errNone
	}
	return Dropped{e, at}, nil
}

// holding is the type of a line that says what was held.
const holding = "holding"

// Dropped is an entry of a drop with its place.
type Dropped struct {
	Entry
	Place drop.Place `json:"place"`
}

// Entity is the id of whose holding it is: the key of its share, else its name.
func (e *Entry) Entity() string { return entity(e.Key, e.Name) }

func entity(key, name string) string { return cmp.Or(key, strings.ToLower(name)) }

// Identity is that by which a later entry replaces an earlier one.
func (e *Entry) Identity() string {
	return strings.Join([]string{e.Coin, e.Entity(), cmp.Or(e.ID, e.Type+" "+e.Date)}, "\x00")
}

// Filed is what a company has filed that it held of a coin at the end of a day.
type Filed struct {
	Key    string `json:"key"`  // of its share
	Name   string `json:"name"` // of the company
	Coin   string `json:"coin"` // e.g. BTC
	Date   string `json:"date"` // yyyy-mm-dd
	Amount string `json:"amount"`
	On     string `json:"on"` // the day on which it was filed, yyyy-mm-dd
}

// FiledOf is what a company has filed of its holdings.
func FiledOf(f market.CompanyFacts) (all []Filed) {
	for _, held := range f.Held {
		all = append(all, Filed{f.Key, f.Name, held.Coin, held.AsOf, held.Value, held.Filed})
	}
	return all
}

// Identity is that by which a later filing replaces an earlier one.
func (f *Filed) Identity() string { return strings.Join([]string{f.Coin, f.Key, f.Date}, "\x00") }

// Compare is below 0 where g holds against f: what was filed later. Of two of the same day one is
// chosen by what it says.
func (f *Filed) Compare(g *Filed) int {
	return cmp.Or(cmp.Compare(f.On, g.On), cmp.Compare(f.Amount, g.Amount), cmp.Compare(f.Name, g.Name))
}

// log has a row of every entry, under its entity.
var log = dataset.Log[Dropped]{Name: Name, Row: row, Decode: DecodeRow}

func row(d *Dropped) store.Row { return dataset.PlaceRow(d.Entity(), d.Place, dataset.JSON(d)) }

// AppendRows appends the row of each entry to rows.
func AppendRows(rows []store.Row, entries []Dropped) []store.Row {
	return log.AppendRows(rows, entries)
}

var errRow = errors.New("a stored entry of a drop has no coin, entity, day, amount, file or line")

// DecodeRow reads a row.
func DecodeRow(r store.Row) (Dropped, error) {
	d, err := dataset.FromJSON[Dropped](r.Body)
	if err == nil && (d.Coin == "" || d.Entity() == "" || d.Date == "" || d.Amount == "" || d.Place.File == "" || d.Place.Line < 1) {
		err = errRow
	}
	return d, err
}
