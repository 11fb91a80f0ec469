package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/ledgers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// fundsIndex writes stored ledger updates again that came from outside of the venue or left
// it, and were written before all routes of money were known as such: so they are found among
// the deposits and withdrawals. Once all that was stored is read, it has nothing to do.
type fundsIndex struct {
	engine.Defaults[*Batch]
	rows []store.Row
}

// fundsIndexName is that of its checkpoint.
const fundsIndexName = "fundsindex"

// Name is unique in the domain.
func (*fundsIndex) Name() string { return fundsIndexName }

// Folds has the ledger updates.
func (*fundsIndex) Folds() []engine.Fold[*Batch] { return storedLedgers }

// Apply takes the rows that may lack their place in the index.
func (p *fundsIndex) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	if !b.Stored {
		return nil
	}
	for i := range b.Ledgers {
		if l := &b.Ledgers[i]; l.USDC != "" && l.Type != market.LedgerDeposit && l.Type != market.LedgerWithdraw {
			p.rows = ledgers.AppendRows(p.rows, b.Ledgers[i:i+1])
		}
	}
	return nil
}

// Changes has these rows.
func (p *fundsIndex) Changes(time.Time, bool) (c engine.Changes) {
	if len(p.rows) > 0 {
		c.Log = []engine.LogRows{{Dataset: ledgers.Name, Rows: p.rows}}
		p.rows = nil
	}
	return c
}
