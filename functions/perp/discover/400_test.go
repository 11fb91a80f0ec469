package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	filters := strings.Repeat(`{"field":"totalPnl","val":1},`, 51)
	for in, want := range map[string]string{
		`{"pageNum":21}`:                           "invalid pageNum: must be a whole number from 1 to 20",
		`{"pageSize":"26"}`:                        "invalid pageSize: must be a whole number from 1 to 25",
		`{"period":90}`:                            "invalid period: must be a number of days, one of 0 (all time), 1, 7, 30",
		`{"sort":"totalPnl"}`:                      "invalid sort: must be an object",
		`{"sort":{"field":5}}`:                     "invalid sort.field: must be a text",
		`{"sort":{"field":"totalPnl","dir":"up"}}`: "invalid sort.dir: must be asc or desc",
		`{"sort":{"field":"dexNames"}}`:            "dexNames is a text, by which traders are not ordered",
		`{"filters":[{"field":"dexNames","op":">","val2":"a"}]}`:                    "op: must be one of =, !=, <>, exist, as dexNames is a text",
		`{"sort":{"field":"vtName"}}`:                                               "vtName is a text, by which traders are not ordered",
		`{"selects":[["totalPnl"]]}`:                                                "invalid selects",
		`{"selects":"totalPnl,adFirstTradeAt"}`:                                     "is not open to callers",
		`{"filters":[1]}`:                                                           "invalid filters: must be a list of at most 50 objects",
		`{"noCoins":[[]]}`:                                                          "invalid noCoins: a value in it must be a coin name",
		`{"filters":{"field":"totalPnl"}}`:                                          "invalid filters: must be a list of at most 50 objects",
		`{"filters":[` + strings.TrimSuffix(filters, ",") + `]}`:                    "invalid filters: must be a list of at most 50 objects",
		`{"filters":[{"field":"totalPnl","val":1},{"field":true}]}`:                 "invalid filters[1].field: must be a text",
		`{"filters":[{"field":"totalPnl","val":"NaN"}]}`:                            "invalid filters[0].val: must be a decimal number",
		`{"filters":[{"field":"totalPnl","val":1e99}]}`:                             "invalid filters[0].val: must be a decimal number",
		`{"filters":[{"field":"totalPnl","val":[1]}]}`:                              "invalid filters[0].val",
		`{"filters":[{"field":"totalPnl","val":1,"period":5}]}`:                     "invalid filters[0].period: must be a number of days",
		`{"filters":[{"field":"trFills","val":1,"period":0}]}`:                      "filters[0].field: trFills is not known of period 0 (all time): its period must be one of 1, 7, 30",
		`{"filters":[{"field":"totalPnl","op":"~","val":1}]}`:                       "invalid filters[0].op: must be one of",
		`{"filters":` + strings.Repeat("[", 20_000) + `}`:                           "JSON",
		`{"filters":[` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `]}`: "invalid filters",
		`{"coins":["not a coin"]}`:                                                  "invalid coins: a value in it must be a coin name",
		`{"addrs":["0x12"]}`:                                                        "invalid addrs: a value in it must be an address",
		`{"tags":["Genius"]}`:                                                       `there is no tag "Genius"`,
		`{"lang":"fr"}`:                                                             "invalid lang: must be one of en, zh",
	} {
		w.post(t, discover, in).Refused(t, http.StatusBadRequest, want)
	}
	w.post(t, smart, `{"sort":"luck"}`).Refused(t, http.StatusBadRequest, "invalid sort: must be one of win-rate, account-balance")
	w.post(t, smart, `{"period":90}`).Refused(t, http.StatusBadRequest, "invalid period")
	w.post(t, tags, `{"addresses":[]}`).Refused(t, http.StatusBadRequest, "invalid addresses: must be a list of 1 to 2000 entries")
}
