package perp

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/archive"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

func TestPaymentsGoThroughTheArchiveAsTheyAre(t *testing.T) {
	t.Parallel()
	const one, two, hour = "0x0000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000002", 3_600_000
	payment := func(address, coin string, at, seq int64) market.FundingPayment {
		return market.FundingPayment{Address: address, Coin: coin, Time: at, USDC: "-1.5", Szi: "2.0", Rate: "0.0000125", Seq: seq}
	}
	rows := payments.AppendRows(nil, []market.FundingPayment{ // the second hour was paid in two events of one millisecond
		payment(one, "BTC", markettest.Base, 1), payment(two, "BTC", markettest.Base, 1), payment(one, "ETH", markettest.Base, 1),
		payment(one, "BTC", markettest.Base+hour, 2), payment(two, "ETH", markettest.Base+hour, 2),
		payment(one, "xyz:GOLD", markettest.Base+hour, 3), payment(one, "abc:OIL", markettest.Base+hour, 3),
	})
	file, _ := must.Get2(archive.NewDataset(payments.Archive).Encode(rows, func(_ int, err error) { t.Error(err) }))(t)
	var got []store.Row
	got = slices.AppendSeq(got, must.All(t, archive.Decode(file)))
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("(-stored +archived):\n%s", diff)
	}
}
