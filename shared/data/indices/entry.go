package indices

import (
	_ "embed" // the schema
	"errors"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/market"
)

// Entry is a line of a drop of indices: a day of an index or of a share. It holds against what a source tells of the day, and a later line for the same day replaces it.
type Entry struct {
	// Key of the index: clients send exactly this text, such as i:vix:cboe.
	Key string `json:"key" required:"true" maxlen:"64" pattern:"^[A-Za-z0-9:._/@+-]+$"`
	// Day, as 2026-11-20, from 1970 on.
	Date string `json:"date" required:"true" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`
	// What it stood at first, as a decimal; the close where it is absent.
	Open string `json:"open" maxlen:"40"`
	// Its highest, as a decimal; the close where it is absent. It is raised to the open and the close.
	High string `json:"high" maxlen:"40"`
	// Its lowest, as a decimal; the close where it is absent. It is lowered to the open and the close.
	Low string `json:"low" maxlen:"40"`
	// What it stood at last, as a decimal.
	Close string `json:"close" required:"true" maxlen:"40"`
	// Shares that were traded, as a decimal.
	Volume string `json:"volume" maxlen:"40"`
	// Currency of the figures, such as USD; points where it is absent.
	Unit string `json:"unit" pattern:"^([A-Z]{3})?$"`
}

var (
	lines = drop.TypeOf[Entry]()

	// Schema is the JSON Schema of a line.
	//go:embed indices.schema.json
	Schema []byte

	errFuture = errors.New("date must not be later than the day after the file was put")
)

// Parse reads a line of a drop. The error says what is wrong, for whoever wrote it.
func Parse(line []byte, at drop.Place) (DayEntry, error) {
	e, err := lines.Decode(line)
	if err != nil {
		return DayEntry{}, err
	}
	q, err := market.DayQuote{Key: e.Key, Date: e.Date, Unit: e.Unit, Open: e.Open, High: e.High, Low: e.Low, Close: e.Close, Volume: e.Volume}.Checked()
	if err == nil && q.Date > time.UnixMilli(at.Time).UTC().AddDate(0, 0, 1).Format(time.DateOnly) {
		err = errFuture
	}
	return EntryOf(q, at), err
}
