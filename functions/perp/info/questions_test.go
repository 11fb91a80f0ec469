package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
)

// values are a value of each member of a request.
func values() map[string]string {
	now := apitest.Start
	return map[string]string{
		"dex": `"xyz"`, "user": `"` + alice + `"`, "coin": `"BTC"`, "aggregateByTime": "true", "oid": `9000`, "nSigFigs": "5", "mantissa": "5",
		"startTime": fmt.Sprint(start), "endTime": fmt.Sprint(now.UnixMilli()),
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

// options are the members of a request that change the answer of a type, beside
// those that it needs.
var options = map[string][]string{
	"allMids":          {"dex"},
	"meta":             {"dex"},
	"fundingHistory":   {"endTime"},
	"l2Book":           {"nSigFigs", "mantissa"},
	"metaAndAssetCtxs": {"dex"},
	"userFills":        {"aggregateByTime"},
	"userFillsByTime":  {"endTime", "aggregateByTime"},
}

func names(members []member) (list []string) {
	for _, m := range members {
		list = append(list, m.name)
	}
	return list
}

// Without a member that it needs a type is refused, and one that is neither needed
// nor an option of it changes nothing.
func TestATypeDependsOnItsMembersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someMids(t)
	w.someMeta(t)
	w.someContexts(t)
	w.someBooks(t)
	w.pay(t, "BTC", 3)
	w.candles(t, "BTC", apitest.Start.Add(-time.Hour), 0, 1, 2)
	w.put(t, combined()...)
	w.putOrders(t, order(0, 0, "open"), order(0, 5, "filled"))
	for _, q := range questions {
		if q.answer == nil {
			continue
		}
		needs := names(q.needs)
		plain := w.ask(t, request(q.name, needs...))
		if plain.Status != http.StatusOK || strings.HasSuffix(string(plain.Body), `"data":[]}`) {
			t.Errorf("%s answers %d: %s", request(q.name, needs...), plain.Status, plain.Body)
		}
		for name := range values() {
			switch i := slices.Index(needs, name); {
			case i >= 0:
				w.ask(t, request(q.name, slices.Delete(slices.Clone(needs), i, i+1)...)).Refused(t, http.StatusBadRequest, "missing "+name+": it must be "+q.needs[i].kind)
			case !slices.Contains(options[q.name], name):
				body := request(q.name, append(slices.Clone(needs), name)...)
				if answer := w.ask(t, body); string(answer.Body) != string(plain.Body) {
					t.Errorf("%s answers %d: %s, without %s %s", body, answer.Status, answer.Body, name, plain.Body)
				}
			}
		}
	}
}

func TestEachTypeIsThereOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, q := range questions {
		if seen[q.name] {
			t.Errorf("%s is there twice", q.name)
		}
		seen[q.name] = true
	}
}
