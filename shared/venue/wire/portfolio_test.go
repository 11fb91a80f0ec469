package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func TestAPortfolioIsOneCurve(t *testing.T) {
	t.Parallel()
	got := must.Get(ParsePortfolio([]byte(`[
		["day",{"accountValueHistory":[[3000,"20.0"],[4000,"26.5"]],"pnlHistory":[[3000,"0.0"],[4000,"1.5"]],"vlm":"7.5"}],
		["allTime",{"accountValueHistory":[[1000,"0.0"],[2000,"10.0"],[3500,"19.0"],[4000,"26.5"],[4500]],"pnlHistory":[[1000,"0.0"],[2000,"2.0"],[3500,"9.0"],[4000,"11.5"],[4500,"x"]],"vlm":"100.25"}],
		["perpDay",{"accountValueHistory":[],"pnlHistory":[],"vlm":"0.0"}],
		["perpAllTime",{"accountValueHistory":[[4000,"6.0"]],"pnlHistory":[[4000,"1.0"]],"vlm":"50.0"}],
		["year",{}]]`)))(t)
	micros := func(f float64) market.Micros { return market.Micros(f * 1e6) }
	want := market.VenueCurve{
		Until: 4000, Volume: micros(100.25), PerpVolume: micros(50),
		All: []market.AccountValue{
			{Time: 1000, NetIn: micros(-15)}, {Time: 2000, Value: micros(10), NetIn: micros(-7)},
			{Time: 3000, Value: micros(20), NetIn: micros(-5)}, {Time: 4000, Value: micros(26.5)},
		},
		Perp: []market.AccountValue{{Time: 4000, Value: micros(6)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Continue(micros(3), micros(4), 0, 0)
	if got.All[0].NetIn != micros(-8) || got.All[3].NetIn != micros(7) || got.Perp[0].NetIn != micros(3) {
		t.Errorf("it does not go on to what came in: %+v", got)
	}
	many := strings.Repeat(`[1,"1"],`, mostPortfolioPoints) + `[1,"1"]`
	for _, raw := range []string{`{}`, `[]`, `[["day",{}]]`, `[["day",7]]`, `[["day",{"accountValueHistory":[[1,"1"]],"pnlHistory":[]}]]`, `[["day",{"accountValueHistory":[` + many + `],"pnlHistory":[` + many + `]}]]`} {
		if _, err := ParsePortfolio([]byte(raw)); err == nil {
			t.Errorf("%.60s is read", raw)
		}
	}
}
