package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

func TestPublicTradesAreChecked(t *testing.T) {
	t.Parallel()
	const (
		users = `["0x000000000000000000000000000000000000000a","0x000000000000000000000000000000000000000b"]`
		good  = `{"coin":"BTC","side":"B","px":"35.276","sz":"5.78","hash":"0x1","time":1764835613064,"tid":1,"users":` + users + `}`
	)
	for name, change := range map[string][2]string{
		"side": {`"side":"B"`, `"side":"C"`}, "price": {`"35.276"`, `"1e9"`}, "size": {`"5.78"`, `"-5.78"`}, "coin": {`"BTC"`, `""`},
		"time": {"1764835613064", "17648356130640000"}, "id": {`"tid":1`, `"tid":0`},
	} {
		trades, malformed, err := wire.ParseTrades([]byte("["+good+","+strings.Replace(good, change[0], change[1], 1)+"]"), false)
		if err != nil || len(trades) != 1 || malformed != 1 {
			t.Errorf("%s: %d trades, %d malformed, %v", name, len(trades), malformed, err)
			continue
		}
		if got := string(trades[0].AppendJSON(nil)); got != good {
			t.Errorf("written again it is %s", got)
		}
	}
	// What is of another type costs its trade at most.
	for name, c := range map[string]struct {
		one, want string
	}{
		"no users":       {strings.Replace(good, `,"users":`+users, ``, 1), `"users":["",""]`},
		"null users":     {strings.Replace(good, users, `null`, 1), `"users":["",""]`},
		"users of none":  {strings.Replace(good, users, `["0xa","0x000000000000000000000000000000000000000B\u202e"]`, 1), `"users":["",""]`},
		"a long hash":    {strings.Replace(good, `"0x1"`, `"`+strings.Repeat("a", 300)+`"`, 1), `"hash":""`},
		"a hidden hash":  {strings.Replace(good, `"0x1"`, `"0x\u202e1"`, 1), `"hash":"0x1"`},
		"no hash":        {strings.Replace(good, `"hash":"0x1",`, ``, 1), `"hash":""`},
		"a hash of none": {strings.Replace(good, `"hash":"0x1"`, `"hash":{"a":1}`, 1), `"hash":""`},
	} {
		trades, malformed, err := wire.ParseTrades([]byte("["+good+","+c.one+"]"), false)
		if err != nil || len(trades) != 2 || malformed != 0 || !strings.Contains(string(trades[1].AppendJSON(nil)), c.want) {
			t.Errorf("%s: %+v, %d malformed, %v", name, trades, malformed, err)
		}
	}
	for _, one := range []string{`7`, `null`, strings.Replace(good, `"tid":1`, `"tid":"1"`, 1), strings.Replace(good, `"px":"35.276"`, `"px":[]`, 1)} {
		if trades, malformed, err := wire.ParseTrades([]byte("["+good+","+one+"]"), false); err != nil || len(trades) != 1 || malformed != 1 {
			t.Errorf("%s: %d trades, %d malformed, %v", one, len(trades), malformed, err)
		}
	}
}

func TestTradesOfOneTimeKeepTheOrderOfTheirExecution(t *testing.T) {
	t.Parallel()
	at := func(ms ...int64) string {
		list := make([]string, len(ms))
		for i, m := range ms {
			list[i] = fmt.Sprintf(`{"coin":"BTC","side":"B","px":"1.0","sz":"1.0","time":%d,"tid":%d}`, m, i+1)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for _, c := range []struct {
		list        string
		newestFirst bool
		want        string // trade ids, oldest first
	}{
		{at(5, 5, 5), false, "[1 2 3]"},
		{at(5, 5, 5), true, "[3 2 1]"},
		{at(5, 5, 6), true, "[1 2 3]"},
		{at(6, 5, 5), false, "[3 2 1]"},
		{at(5), true, "[1]"},
		{at(), true, "[]"},
	} {
		trades, _ := must.Get2(wire.ParseTrades([]byte(c.list), c.newestFirst))(t)
		slices.SortFunc(trades, func(a, b market.Trade) int { return a.Order().Compare(b.Order()) })
		tids := []int64{}
		for _, tr := range trades {
			tids = append(tids, tr.Tid)
		}
		if got := fmt.Sprint(tids); got != c.want {
			t.Errorf("%s: %s, want %s", c.list, got, c.want)
		}
	}
}
