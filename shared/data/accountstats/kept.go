package accountstats

import (
	"quotary/shared/market"
	"quotary/shared/store"
)

// Kept is how an account trades, for who folds it and keeps many of them: the row as it
// was last, and what was folded since, which is what its methods and fields are of. It
// takes a tenth of the memory of the statistics themselves. The zero value is of an
// account of which nothing is known.
type Kept struct {
	market.TraderStats

	row []byte // what [Append] wrote; nil before the first
}

// Keep returns what is kept of a row.
func Keep(row []byte) (*Kept, error) {
	s, err := Decode(row)
	if err != nil {
		return nil, err
	}
	return &Kept{s.Since(), row}, nil
}

// All is the statistics with all that was folded.
func (k *Kept) All() market.TraderStats {
	var s market.TraderStats
	if k.row != nil {
		var err error
		if s, err = Decode(k.row); err != nil {
			panic("accountstats: " + err.Error()) // it was read or written before
		}
	}
	s.Merge(&k.TraderStats)
	return s
}

// Row is the row of an account with all that was folded, see [RowOf], from which is folded
// on. It notes since when the account is known, and its flows are: those of a row that did
// not count them, from the first row on that does.
func (k *Kept) Row(a *market.Account, version string) store.SeriesRow {
	k.Began = a.Since
	if _, known := k.FlowsKnown(); !known {
		k.FlowsSince = a.Time
	}
	s := k.All()
	row := RowOf(a.Address, &s, version)
	k.TraderStats, k.row = s.Since(), row.Extra
	return row
}

// ForgetValues forgets what the account was worth: what it is worth from now on is no more to
// be compared with it.
func (k *Kept) ForgetValues() {
	s := k.All()
	s.Hours = nil
	k.TraderStats, k.row = s.Since(), Append(nil, &s)
}

// Stored is what stands in the row, without what was folded since; nil before the first.
func (k *Kept) Stored() []byte { return k.row }

// Restart goes on from what stood in an earlier row, nil for none, to fold again what came
// behind it. Only the values at full hours stay, which are in no event.
func (k *Kept) Restart(row []byte) error {
	s, hours := market.TraderStats{}, k.All().Hours
	if row != nil {
		var err error
		if s, err = Decode(row); err != nil {
			return err
		}
	}
	s.Hours = hours
	k.TraderStats, k.row = s.Since(), Append(nil, &s)
	return nil
}
