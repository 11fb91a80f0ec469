package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

// values are a value of each member of a request.
func values() map[string]string {
	now := apitest.Start
	return map[string]string{
		"dex": `"xyz"`, "user": `"` + alice + `"`, "coin": `"BTC"`, "aggregateByTime": "true", "oid": `9000`, "nSigFigs": "5", "mantissa": "5",
		"startTime": fmt.Sprint(start), "endTime": fmt.Sprint(now.UnixMilli()),
		"vaultAddress": `"` + alice + `"`, "builder": `"` + alice + `"`, "source": `"` + alice + `"`, "token": "1", "id": "50", "tokenId": `"0x6d1e7cde53ba9467b783cb7c530ce054"`,
		"req": fmt.Sprintf(`{"coin":"BTC","interval":"1m","startTime":%d}`, now.Add(-time.Hour).UnixMilli()),
	}
}

// request is a request of a type with some members.
func request(kind string, members ...string) string {
	all := values()
	body := `{"type":"` + kind + `"`
	for _, name := range members {
		body += `,"` + name + `":` + all[name]
	}
	return body + "}"
}

// Without a member that it needs a type is refused, and one that it does not use
// changes nothing, whatever it holds.
func TestATypeDependsOnItsMembersAlone(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, newVenue(t).URL, 1_000_000)
	w.someMids(t)
	w.someAccount(t)
	w.somePast(t)
	w.someContexts(t)
	w.someOpenOrders(t)
	w.someBooks(t)
	w.pay(t, "BTC", 3)
	w.candles(t, "BTC", apitest.Start.Add(-time.Hour), 0, 1, 2)
	w.put(t, combined()...)
	slice := one(50)
	slice.TwapID = new(int64(7))
	w.put(t, slice)
	w.putOrders(t, order(0, 0, "open"), order(0, 5, "filled"))
	w.someTwaps(t, 25*time.Hour)
	storetest.PutLog(t, w.log, payments.Name, payments.AppendRows, market.FundingPayment{Address: alice, Coin: "BTC", Time: start + 1, USDC: "1.5", Szi: "2.0", Rate: "0.0001"})
	storetest.PutLog(t, w.log, ledgers.Name, ledgers.AppendRows, market.Ledger{Address: alice, Time: start + 1, Hash: "0x1", Type: "deposit", Delta: json.RawMessage(`{"type":"deposit","usdc":"1.0"}`)})
	for _, kind := range catalog.InfoTypes {
		needs := kind.Needs
		plain := w.ask(t, request(kind.Name, needs...))
		if plain.Status != http.StatusOK || strings.HasSuffix(string(plain.Body), `"data":[]}`) {
			t.Errorf("%s answers %d: %s", request(kind.Name, needs...), plain.Status, plain.Body)
		}
		for name := range values() {
			switch i := slices.Index(needs, name); {
			case i >= 0:
				w.ask(t, request(kind.Name, slices.Delete(slices.Clone(needs), i, i+1)...)).Refused(t, http.StatusBadRequest, "missing "+name+": it must be "+members[name].kind)
			case !slices.Contains(kind.Takes, name):
				body := request(kind.Name, append(slices.Clone(needs), name)...)
				for _, body := range []string{body, strings.TrimSuffix(request(kind.Name, needs...), "}") + `,"` + name + `":{"a":[0]}}`} {
					if answer := w.ask(t, body); string(answer.Body) != string(plain.Body) {
						t.Errorf("%s answers %d: %s, without %s %s", body, answer.Status, answer.Body, name, plain.Body)
					}
				}
			}
		}
	}
}

func TestEachTypeIsThereOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range catalog.InfoTypes {
		if seen[kind.Name] {
			t.Errorf("%s is there twice", kind.Name)
		}
		seen[kind.Name] = true
		if (answers[kind.Name] == nil) != (kind.Weight > 0) {
			t.Errorf("%s has no answer", kind.Name)
		}
		for _, name := range kind.Needs {
			if members[name].value == nil {
				t.Errorf("%s needs %s, which has no words", kind.Name, name)
			}
		}
	}
}
