package market_test

import (
	"testing"

	"quotary/shared/market"
)

func TestFundingIsChecked(t *testing.T) {
	t.Parallel()
	good := market.Funding{Coin: "BTC", Rate: "-0.0000125", Premium: "0.0", Time: 1_700_000_000_000}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	unknown := good
	if unknown.Premium = ""; unknown.Check() != nil {
		t.Errorf("without a premium: %v", unknown.Check())
	}
	for _, spoil := range []func(*market.Funding){
		func(f *market.Funding) { f.Coin = "" },
		func(f *market.Funding) { f.Time = 0 },
		func(f *market.Funding) { f.Rate = "" },
		func(f *market.Funding) { f.Premium = "x" },
	} {
		bad := good
		spoil(&bad)
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
