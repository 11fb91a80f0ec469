package reference

import (
	"quotary/functions/ingester/engine"
	"quotary/shared/data/coins"
	"quotary/shared/data/companies"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/othervenues"
	"quotary/shared/data/treasuries"
)

// Drops are the datasets of the domain that drops may load.
var Drops = []engine.DropDataset[*Batch]{
	{Name: coins.Name, Schema: coins.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
		entry, err := coins.Entries.Decode(line)
		if err == nil {
			to.Entries = append(to.Entries, coins.Dropped{Entry: entry, Place: at})
		}
		return err
	}},
	{Name: companies.Name, Schema: companies.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
		entry, err := companies.Entries.Decode(line)
		if err == nil {
			to.Companies = append(to.Companies, companies.Dropped{Entry: entry, Place: at})
		}
		return err
	}},
	{Name: treasuries.Name, Schema: treasuries.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
		entry, err := treasuries.Parse(line, at)
		if err == nil {
			to.Treasuries = append(to.Treasuries, entry)
		}
		return err
	}},
	{Name: indices.Name, Schema: indices.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
		entry, err := indices.Parse(line, at)
		if err == nil {
			to.Indices = append(to.Indices, entry)
		}
		return err
	}},
	{Name: othervenues.Name, Schema: othervenues.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
		entry, err := othervenues.Parse(line, at)
		if err == nil {
			to.Venues = append(to.Venues, entry)
		}
		return err
	}},
}
