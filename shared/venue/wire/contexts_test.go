package wire_test

import (
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

func TestContextsGoSideBySideWithTheUniverse(t *testing.T) {
	t.Parallel()
	raw := []byte(`[{"universe":[{"name":"BTC","szDecimals":5},{"name":"OLD","isDelisted":true},{"name":"ETH"}],"marginTables":[]},
		[{"funding":"0.0000125","openInterest":"688.11","premium":"0.00031774","oraclePx":"84000.0","markPx":"84026.5","midPx":null},
		 {"funding":"0.0","premium":null,"markPx":null},
		 {"funding":"-0.000002","premium":null,"markPx":"1600.25"}]]`)
	c := must.Get(wire.ParseContexts("xyz", 7, raw))(t)
	if c.Dex != "xyz" || c.Spot || c.Time != 7 || len(c.Coins) != 2 {
		t.Fatalf("got %+v", c)
	}
	btc, eth := c.Coins[0], c.Coins[1]
	if btc.Coin != "BTC" || market.Text(btc.Mark) != "84026.5" || btc.Funding != "0.0000125" || btc.Premium != "0.00031774" || market.Text(btc.Interest) != "688.11" {
		t.Errorf("got %+v", btc)
	}
	if eth.Coin != "ETH" || market.Text(eth.Mark) != "1600.25" || eth.Funding != "-0.000002" || eth.Premium != "" || !eth.Interest.IsZero() {
		t.Errorf("got %+v", eth)
	}
}

func TestSpotContextsNameTheirCoins(t *testing.T) {
	t.Parallel()
	raw := []byte(`[{"universe":[{"name":"PURR/USDC"}],"tokens":[]},[{"coin":"PURR/USDC","markPx":"0.15"},{"coin":"@107","markPx":"31.5"}]]`)
	c, err := wire.ParseSpotContexts(7, raw)
	if err != nil || !c.Spot || len(c.Coins) != 2 || c.Coins[1].Coin != "@107" {
		t.Errorf("got %+v, %v", c, err)
	}
}

// Clients read contexts as the venue wrote them: a name that hides something is not shown as
// another coin's.
func TestWhatIsHiddenInContextsIsNotShown(t *testing.T) {
	t.Parallel()
	raw := []byte("[{\"universe\":[{\"name\":\"BT\u202eC\"},{\"name\":\"ET\\u0000H\"},{\"name\":\"OK\"}]},[{\"markPx\":\"1\"},{\"markPx\":\"2\"},{\"markPx\":\"3\"}]]")
	c := must.Get(wire.ParseContexts("", 1, raw))(t)
	if want := `[{"universe":[{"name":"BT` + "\ufffd" + `C"},{"name":"ET` + "\ufffd" + `H"},{"name":"OK"}]},[{"markPx":"1"},{"markPx":"2"},{"markPx":"3"}]]`; string(c.Raw) != want {
		t.Errorf("clients read %q, want %q", c.Raw, want)
	}
	if len(c.Coins) != 1 || c.Unread != 2 {
		t.Errorf("%+v are read, %d not", c.Coins, c.Unread)
	}
	spot := must.Get(wire.ParseSpotContexts(1, []byte(`[{"tokens":[{"fullName":"\u2066"}]},[{"coin":"P\u200fQ","markPx":"1"}]]`)))(t)
	if want := `[{"tokens":[{"fullName":"` + "\ufffd" + `"}]},[{"coin":"P` + "\ufffd" + `Q","markPx":"1"}]]`; string(spot.Raw) != want || spot.Unread != 1 {
		t.Errorf("clients read %q, want %q", spot.Raw, want)
	}
}

func TestWhatAreNoContextsIsRefused(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`null`:                               "0 parts",
		`{}`:                                 "read contexts",
		`[{"universe":[{"name":"BTC"}]},[]]`: "1 coins and figures of 0",
		`[{"universe":7},[]]`:                "no universe",
		`[7,[]]`:                             "read contexts",
		`[{"universe":[]},7]`:                "read contexts",
	} {
		if c, err := wire.ParseContexts("", 1, []byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %+v, %v; want an error of %q", raw, c, err, want)
		}
	}
}

func TestACoinThatCannotBeReadCostsNoOther(t *testing.T) {
	t.Parallel()
	for figures, unread := range map[string]int{
		`{"markPx":"-1"}`: 1, `{"markPx":{}}`: 1, `{}`: 0, `7`: 0, `null`: 0, `{"markPx":null,"funding":7}`: 0,
	} {
		c, err := wire.ParseContexts("", 1, []byte(`[{"universe":[{"name":"X"},{"name":"BTC"}]},[`+figures+`,{"markPx":"1.5"}]]`))
		if err != nil || len(c.Coins) != 1 || c.Coins[0].Coin != "BTC" || c.Unread != unread {
			t.Errorf("%s: %+v, %v", figures, c, err)
		}
	}
	// A figure that is none is not known.
	c, err := wire.ParseContexts("", 1, []byte(`[{"universe":[{"name":"BTC"},{"name":7}]},[{"markPx":1.5,"funding":"1e-5","premium":[],"openInterest":"-1","prevDayPx":2},{"markPx":"1"}]]`))
	if err != nil || len(c.Coins) != 1 || c.Unread != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if got := c.Coins[0]; market.Text(got.Mark) != "1.5" || got.Funding != "" || got.Premium != "" || !got.Interest.IsZero() || market.Text(got.Day.Open) != "2.0" {
		t.Errorf("%+v", got)
	}
}
