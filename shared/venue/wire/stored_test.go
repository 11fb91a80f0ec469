package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/ledgers"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/venue/wire"
)

// One row that cannot be read costs an account all its ledger updates.
func TestALedgerUpdateThatIsReadIsStoredAndReadAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, err := wire.ParseLedger(markettest.ForeignJSON().Draw(t, "delta"))
		if err != nil {
			return
		}
		l.Address, l.Time, l.Hash = markettest.Address().Draw(t, "address"), markettest.Time().Draw(t, "time"), markettest.Foreign().Draw(t, "hash")
		l.Tidy()
		once := l
		l.Tidy()
		row := ledgers.AppendRows(nil, []market.Ledger{l})[0]
		again, err := ledgers.Decode(row)
		if err != nil {
			t.Fatalf("%v: %s", err, row.Body)
		}
		if once.Hash != l.Hash || again.Hash != l.Hash || again.Type != l.Type {
			t.Fatalf("%+v is read as %+v", once, again)
		}
	})
}
