package main

import (
	"net/http"
	"testing"
	"time"
)

func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someMids(t)
	w.someMeta(t)
	const alice = `"user":"0xa11ce00000000000000000000000000000000001"`
	for body, want := range map[string]string{
		`{"type":"allmids"}`:             `unknown type "allmids": it must be one of allMids, meta, spotMeta, candleSnapshot`,
		`{"type":"<script>\""}`:          `unknown type "<script>\"": `,
		`{"type":"allMids","dex":"abc"}`: `unknown dex "abc": it must be the name of a perpetual dex, or absent for the main one`,
		`{"type":"meta","dex":"XYZ"}`:    `unknown dex "XYZ"`,
		`{"type":"userFillsByTime",` + alice + `,"startTime":2,"endTime":1}`:                       "the end of the time range lies before its start: endTime",
		`{"type":"candleSnapshot","req":7}`:                                                        "invalid req",
		`{"type":"candleSnapshot","req":{"interval":"1m"}}`:                                        "missing req.coin: it must be a coin name",
		`{"type":"candleSnapshot","req":{"coin":"B C","interval":"1m"}}`:                           "invalid req",
		`{"type":"candleSnapshot","req":{"coin":"BTC"}}`:                                           "invalid req.interval: must be one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 3d, 1w, 1M",
		`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1s"}}`:                           "invalid req.interval",
		`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":2,"endTime":1}}`: "before req.startTime",
		`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":"x"}}`:           "invalid req.startTime: must be a time in milliseconds since 1970 UTC",
	} {
		w.ask(t, body).Refused(t, http.StatusBadRequest, want)
	}
}

func TestWhatIsWrongWithAMarketQuestionIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someContexts(t)
	w.someBooks(t)
	w.ask(t, `{"type":"metaAndAssetCtxs","dex":"abc"}`).Refused(t, http.StatusServiceUnavailable, "not arrived yet") // which dexs there are is not known
	w.Move(time.Minute)
	w.someMeta(t)
	for body, want := range map[string]string{
		`{"type":"metaAndAssetCtxs","dex":"abc"}`:                          `unknown dex "abc"`,
		`{"type":"l2Book","coin":"NONE"}`:                                  "unknown coin NONE",
		`{"type":"l2Book","coin":"BTC","nSigFigs":1}`:                      "invalid grouping: nSigFigs must be a whole number from 2 to 5",
		`{"type":"l2Book","coin":"BTC","nSigFigs":4294967298}`:             "invalid grouping: nSigFigs",
		`{"type":"l2Book","coin":"BTC","nSigFigs":4,"mantissa":2}`:         "invalid grouping: mantissa must be 1, 2 or 5, and only with an nSigFigs of 5",
		`{"type":"l2Book","coin":"BTC","mantissa":2}`:                      "invalid grouping: mantissa",
		`{"type":"fundingHistory","coin":"BTC","startTime":2,"endTime":1}`: "the end of the time range",
	} {
		w.ask(t, body).Refused(t, http.StatusBadRequest, want)
	}
}

func TestAnOidThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, oid := range []string{`-1`, `1.5`, `"0x12"`, `{}`, `"` + cloid + `00"`} {
		w.ask(t, `{"type":"orderStatus","user":"`+alice+`","oid":`+oid+`}`).Refused(t, http.StatusBadRequest, "invalid oid")
	}
	w.ask(t, `{"type":"orderStatus","user":"`+alice+`","oid":null}`).Refused(t, http.StatusBadRequest, "missing oid: it must be an order id")
}
