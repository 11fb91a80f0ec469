package perp

import (
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accountchanges"
)

// accountNotes notes all accounts that have stored events as changed, whose rows may have been written
// before it was noted which accounts change: so the trader table has them too. Once all that was stored
// is read, it has nothing to do.
type accountNotes struct {
	engine.Defaults[*Batch]
	noted   map[string]struct{} // of those that were noted lately
	changes accountchanges.Changes
}

// notedLately bounds the accounts that are noted once while others come between: some 100 bytes each.
const notedLately = 100_000

// accountNotesName is that of its checkpoint.
const accountNotesName = "accountnotes"

// Name is unique in the domain.
func (*accountNotes) Name() string { return accountNotesName }

// Folds has all that accounts are folded from.
func (*accountNotes) Folds() []engine.Fold[*Batch] {
	return slices.Concat(storedFills, storedPayments, storedLedgers)
}

// Apply takes the accounts of stored events.
func (p *accountNotes) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	if !b.Stored {
		return nil
	}
	for i := range b.Fills {
		p.note(b.Fills[i].Address)
	}
	for i := range b.Payments {
		p.note(b.Payments[i].Address)
	}
	for i := range b.Ledgers {
		p.note(b.Ledgers[i].Address)
	}
	return nil
}

func (p *accountNotes) note(address string) {
	if _, known := p.noted[address]; known {
		return
	}
	if p.noted == nil || len(p.noted) >= notedLately {
		p.noted = map[string]struct{}{}
	}
	p.noted[address] = struct{}{}
	p.changes.Add(address, 0)
}

// Joined forgets who was noted.
func (p *accountNotes) Joined() { p.noted = nil }

// Changes has the notes.
func (p *accountNotes) Changes(now time.Time, _ bool) (c engine.Changes) {
	if rows := accountchanges.Rows(now, &p.changes); rows != nil {
		c.Log, p.changes = []engine.LogRows{{Dataset: accountchanges.Name, Rows: rows}}, accountchanges.Changes{}
	}
	return c
}
