package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/venue/wire"
)

// A status as a node writes it.
const twapLine = `{"time":"2025-12-04T17:00:22.417074898","twap_id":1430699,"state":{"coin":"HYPE","user":"0x9D6A5ab97a8eed617bde9968d9ab6fcf72fde1b8","side":"A","sz":"108.36","executedSz":"0.0","executedNtl":"0.0","minutes":10,"reduceOnly":false,"randomize":true,"timestamp":1764867622417},"status":"activated"}`

func parsedTwap() market.TwapStatus {
	return market.TwapStatus{
		Address: "0x9d6a5ab97a8eed617bde9968d9ab6fcf72fde1b8", TwapID: new(int64(1430699)), Time: 1764867622417, Status: "activated",
		Twap: market.Twap{Coin: "HYPE", Side: market.Sell, Sz: "108.36", ExecutedSz: "0.0", ExecutedNtl: "0.0", Minutes: 10, Randomize: true, Timestamp: 1764867622417},
	}
}

func TestATwapStatusIsReadAsANodeWritesIt(t *testing.T) {
	t.Parallel()
	replaced := func(old, text string) string { return strings.Replace(twapLine, old, text, 1) }
	for name, c := range map[string]struct {
		line string
		want func(*market.TwapStatus) // nil is refused
	}{
		"as it is":                    {twapLine, func(*market.TwapStatus) {}},
		"of an error":                 {replaced(`"activated"`, `{"error":"Insufficient margin to place order."}`), func(s *market.TwapStatus) { s.Status, s.Error = "error", "Insufficient margin to place order." }},
		"of an error without a word":  {replaced(`"activated"`, `{"error":null}`), nil},
		"of an error in another form": {replaced(`"activated"`, `{"error":{"code":5}}`), func(s *market.TwapStatus) { s.Status, s.Error = "error", `{"code":5}` }},
		"of an error of a long text":  {replaced(`"activated"`, `{"error":"`+strings.Repeat("x", 300)+`"}`), func(s *market.TwapStatus) { s.Status = "error" }},
		"of a new status":             {replaced(`"activated"`, `"paused"`), func(s *market.TwapStatus) { s.Status = "paused" }},
		"of spot":                     {replaced(`"HYPE"`, `"@107"`), func(s *market.TwapStatus) { s.Coin = "@107" }},
		"without an id":               {replaced(`"twap_id":1430699,`, ``), func(s *market.TwapStatus) { s.TwapID = nil }},
		"with an id of null":          {replaced(`1430699`, `null`), func(s *market.TwapStatus) { s.TwapID = nil }},
		"with an id in words":         {replaced(`1430699`, `"seven"`), func(s *market.TwapStatus) { s.TwapID = nil }},
		"with sizes as numbers":       {replaced(`"108.36"`, `108.36`), func(*market.TwapStatus) {}},
		"with more members":           {replaced(`"twap_id"`, `"more":[1],"twap_id"`), func(*market.TwapStatus) {}},
		"with a flag in words":        {replaced(`"reduceOnly":false`, `"reduceOnly":"no"`), func(*market.TwapStatus) {}},
		"without a status":            {replaced(`,"status":"activated"`, ``), nil},
		"of a hidden status":          {replaced(`"activated"`, `"acti\u202evated"`), nil},
		"of a long status":            {replaced(`"activated"`, `"`+strings.Repeat("a", 65)+`"`), nil},
		"without a time":              {replaced(`"time":"2025-12-04T17:00:22.417074898",`, ``), nil},
		"without a state":             {`{"time":"2025-12-04T17:00:22.4","twap_id":5,"status":"activated"}`, nil},
		"of no account":               {replaced(`0x9D6A`, `0xZZZZ`), nil},
		"of no coin":                  {replaced(`"HYPE"`, `""`), nil},
		"of no side":                  {replaced(`"A"`, `"AB"`), nil},
		"of a negative id":            {replaced(`1430699`, `-1`), nil},
		"of a negative size":          {replaced(`"108.36"`, `"-108.36"`), nil},
		"of a size in words":          {replaced(`"108.36"`, `"many"`), nil},
		"of a year":                   {replaced(`"minutes":10`, `"minutes":525600`), nil},
		"of minutes below none":       {replaced(`"minutes":10`, `"minutes":-1`), nil},
		"that begins a day later":     {replaced(`1764867622417`, `1764954022417`), nil},
		"that began at no time":       {replaced(`1764867622417`, `0`), nil},
		"that is no object":           {`[` + twapLine + `]`, nil},
		"that is cut":                 {twapLine[:80], nil},
		"that is nothing":             {``, nil},
	} {
		got, err := wire.ParseTwapStatus(json.RawMessage(c.line))
		if c.want == nil {
			if err == nil {
				t.Errorf("a status %s is read as %+v", name, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("a status %s: %v", name, err)
			continue
		}
		want := parsedTwap()
		c.want(&want)
		check.Equalf(t, want, got, "a status %s", name)
	}
}
