package market

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAPublicTradeIsTheFillsOfBothItsAccounts(t *testing.T) {
	t.Parallel()
	const buyer, seller = "0xA11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"
	trade := func(side Side, users ...string) Trade {
		t := Trade{Coin: "BTC", Side: side, Px: mustDecimal("30135.5"), Sz: mustDecimal("0.25"), Time: 1_790_000_000_000, Tid: 7, Hash: "0xab"}
		copy(t.Users[:], users)
		return t
	}
	for name, c := range map[string]struct {
		trade Trade
		want  []string // address, and the fill as the venue would write it
	}{
		"bought": {trade(Buy, buyer, seller), []string{
			`0xa11ce00000000000000000000000000000000001 {"coin":"BTC","px":"30135.5","sz":"0.25","side":"B","time":1790000000000,"startPosition":null,"dir":null,"closedPnl":null,"hash":"0xab","oid":null,"crossed":true,"fee":null,"tid":7,"feeToken":null,"twapId":null}`,
			`0xb0b0000000000000000000000000000000000002 {"coin":"BTC","px":"30135.5","sz":"0.25","side":"A","time":1790000000000,"startPosition":null,"dir":null,"closedPnl":null,"hash":"0xab","oid":null,"crossed":false,"fee":null,"tid":7,"feeToken":null,"twapId":null}`,
		}},
		"sold, the buyer not known": {trade(Sell, "", seller), []string{
			`0xb0b0000000000000000000000000000000000002 {"coin":"BTC","px":"30135.5","sz":"0.25","side":"A","time":1790000000000,"startPosition":null,"dir":null,"closedPnl":null,"hash":"0xab","oid":null,"crossed":true,"fee":null,"tid":7,"feeToken":null,"twapId":null}`,
		}},
		"nobody is named": {trade(Buy), nil},
		"it has no id":    {Trade{Coin: "BTC", Side: Buy, Px: mustDecimal("1"), Sz: mustDecimal("1"), Time: 1, Users: [2]string{buyer, seller}}, nil},
	} {
		var got []string
		for _, f := range AppendProvisional(nil, []Trade{c.trade}) {
			got = append(got, f.Address+" "+string(f.AppendJSON(nil)))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Nothing is believed of a provisional fill but what a public trade says.
func TestAProvisionalFillSaysNoMoreThanItsTrade(t *testing.T) {
	t.Parallel()
	full := Fill{Address: "0xa11ce00000000000000000000000000000000001", Coin: "BTC", Px: "1", Sz: "2", Side: Buy, Time: 5, StartPosition: "3", Dir: "Open Long", ClosedPnl: "4",
		Hash: "0xab", Oid: 6, Crossed: true, Fee: "7", Tid: 8, FeeToken: "USDC", Cloid: "0x01", Liquidation: &Liquidation{}, Builder: "0xb0b0000000000000000000000000000000000002", BuilderFee: "9", TwapID: new(int64(10)), Seq: 11}
	full.Provisional = true
	if err := full.Check(); err != nil {
		t.Fatal(err)
	}
	want := Fill{Address: full.Address, Coin: "BTC", Px: "1", Sz: "2", Side: Buy, Time: 5, Hash: "0xab", Crossed: true, Tid: 8, Seq: 11, Provisional: true}
	if diff := cmp.Diff(want, full); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
