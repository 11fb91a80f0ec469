package api

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/quagmt/udecimal"
	"pgregory.net/rapid"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// everyType has a parameter of each type that endpoints to come need.
type everyType struct {
	Pair     catalog.PairKey         `query:"dbkey"`
	Keys     []catalog.Key           `query:"coin_list" max:"3"`
	Cut      []int64                 `query:"cut" cut:"2"`
	Members  []string                `query:"memberIds" default:"477,1509" max:"5" maxlen:"4" list:"set"`
	Sides    []string                `query:"sides" enum:"Buy|Sell"`
	Interval catalog.FuturesInterval `query:"interval" default:"8h"`
	Period   catalog.KlinePeriod     `query:"period" default:"900"`
	Since    *catalog.Seconds        `query:"since"`
	Start    catalog.StartDate       `query:"start_date"`
	End      catalog.EndDate         `query:"end_date"`
	Least    catalog.Decimal         `query:"least" min:"0.5" max:"1000000000000000000"`
	Flag     bool                    `query:"flag"`
}

// bindQuery binds a query to an everyType.
func bindQuery(t testing.TB, query string) (*everyType, error) {
	t.Helper()
	b := must.Get(compile(reflect.TypeFor[everyType](), http.MethodGet))(t)
	in, err := b.bind(newRequest(httptest.NewRequest(http.MethodGet, "/?"+query, nil), time.Now()))
	if err != nil {
		return nil, err
	}
	return in.(*everyType), nil
}

func TestASemicolonInAQueryIsData(t *testing.T) {
	t.Parallel()
	r := newRequest(httptest.NewRequest(http.MethodGet, "/?search=a;b=c&page=2", nil), time.Now())
	if r.query.Get("search") != "a;b=c" || r.query.Get("page") != "2" || r.query.Has("b") {
		t.Errorf("the query is %v", r.query)
	}
}

func TestAQueryBindsListsAndKeysInEverySpelling(t *testing.T) {
	t.Parallel()
	keys := func(list ...catalog.Key) []catalog.Key { return list }
	for _, tt := range []struct {
		query string
		got   func(*everyType) any
		want  any
	}{
		{"coin_list=a,b", func(in *everyType) any { return in.Keys }, keys("a", "b")},
		{"coin_list=a&coin_list=b", func(in *everyType) any { return in.Keys }, keys("a", "b")},
		{"coin_list[]=a&coin_list[]=b", func(in *everyType) any { return in.Keys }, keys("a", "b")},
		{"coin_list%5B%5D=a", func(in *everyType) any { return in.Keys }, keys("a")},
		{"coin_list=a,b&coin_list[]=c", func(in *everyType) any { return in.Keys }, keys("a", "b", "c")},
		{"coin_list=+a+,,b,", func(in *everyType) any { return in.Keys }, keys("a", "b")},
		{"coin_list=,+,", func(in *everyType) any { return in.Keys }, keys()},
		{"", func(in *everyType) any { return in.Keys }, keys()},
		{"cut=1,2,3", func(in *everyType) any { return in.Cut }, []int64{1, 2}},
		{"", func(in *everyType) any { return in.Members }, []string{"477", "1509"}},
		{"memberIds=", func(in *everyType) any { return in.Members }, []string{"477", "1509"}},
		{"memberIds[]=1&memberIds[]=2", func(in *everyType) any { return in.Members }, []string{"1", "2"}},
		{"memberIds[10]=3&memberIds[1]=2&memberIds[0]=1", func(in *everyType) any { return in.Members }, []string{"1", "2", "3"}},
		{"memberIds%5B0%5D=1,2&memberIds[x]=3&memberIds[01]=4&memberIds[-1]=5&memberIds[0=6", func(in *everyType) any { return in.Members }, []string{"1", "2"}},
		{"memberIds=1,null,2&memberIds=null", func(in *everyType) any { return in.Members }, []string{"1", "2"}},
		{"memberIds=null", func(in *everyType) any { return in.Members }, []string{}},
		{"coin_list=a,b,a", func(in *everyType) any { return in.Keys }, keys("a", "b", "a")},
		{"memberIds=1,2,1,3,4,1,5,1", func(in *everyType) any { return in.Members }, []string{"1", "2", "3", "4", "5"}},
		{"cut=1,1,2,1,3", func(in *everyType) any { return in.Cut }, []int64{1, 1}},
		{"sides=Buy,Sell", func(in *everyType) any { return in.Sides }, []string{"Buy", "Sell"}},
		{"dbkey=btcusdt:binance", func(in *everyType) any { return in.Pair }, catalog.PairKey("btcusdt:binance")},
		{"symbol=btcusdt:binance", func(in *everyType) any { return in.Pair }, catalog.PairKey("btcusdt:binance")},
		{"dbKey=btcusdt:binance", func(in *everyType) any { return in.Pair }, catalog.PairKey("btcusdt:binance")},
		{"key=btcusdt:binance", func(in *everyType) any { return in.Pair }, catalog.PairKey("btcusdt:binance")},
		{"symbol=&dbKey=btcusdt:binance&dbkey=", func(in *everyType) any { return in.Pair }, catalog.PairKey("btcusdt:binance")},
		{"dbkey=a:b&symbol=a:b&key=a:b&dbKey=", func(in *everyType) any { return in.Pair }, catalog.PairKey("a:b")},
		{"symbol=a:b&symbol=a:b", func(in *everyType) any { return in.Pair }, catalog.PairKey("a:b")},
		{"symbol=A:b&dbkey=a:B&dbkey=a:b", func(in *everyType) any { return in.Pair }, catalog.PairKey("a:B")},
		{"sides=buy,SELL", func(in *everyType) any { return in.Sides }, []string{"Buy", "Sell"}},
		{"unknown=1", func(in *everyType) any { return in.Interval }, catalog.FuturesInterval("8h")},
		{"", func(in *everyType) any { return in.Period }, catalog.KlinePeriod(900)},
		{"period=2592000", func(in *everyType) any { return in.Period }, catalog.KlinePeriod(2592000)},
		{"since=1790000000", func(in *everyType) any { return in.Since.Time().Unix() }, int64(1790000000)},
		{"start_date=2026-01-31", func(in *everyType) any { return in.Start.Format(time.RFC3339Nano) }, "2026-01-31T00:00:00Z"},
		{"end_date=2026-01-31", func(in *everyType) any { return in.End.Format(time.RFC3339Nano) }, "2026-01-31T23:59:59.999Z"},
		{"end_date=2026-01-31T08:00:00%2B08:00", func(in *everyType) any { return in.End.Format(time.RFC3339Nano) }, "2026-01-31T00:00:00Z"},
		{"end_date=2026-01-31T08:00:00.25", func(in *everyType) any { return in.End.Format(time.RFC3339Nano) }, "2026-01-31T08:00:00.25Z"},
		{"", func(in *everyType) any { return in.Start.IsZero() && in.End.IsZero() }, true},
		{"least=0.5", func(in *everyType) any { return in.Least.String() }, "0.5"},
		{"least=1e18", func(in *everyType) any { return in.Least.String() }, "1000000000000000000"},
		{"least=25e-1", func(in *everyType) any { return in.Least.String() }, "2.5"},
		{"least=123456789012345678.1234567890123456789", func(in *everyType) any { return in.Least.String() }, "123456789012345678.1234567890123456789"},
		{"flag=1", func(in *everyType) any { return in.Flag }, true},
		{"flag=false", func(in *everyType) any { return in.Flag }, false},
		{"flag=True", func(in *everyType) any { return in.Flag }, true},
	} {
		in, err := bindQuery(t, tt.query)
		if err != nil {
			t.Errorf("%s: %v", tt.query, err)
			continue
		}
		if got := tt.got(in); !reflect.DeepEqual(got, tt.want) && (reflect.ValueOf(got).Kind() != reflect.Slice || reflect.ValueOf(got).Len()+reflect.ValueOf(tt.want).Len() > 0) {
			t.Errorf("%s: bound %v, want %v", tt.query, got, tt.want)
		}
	}
	for _, tt := range []struct{ query, message string }{
		{"coin_list=a,b,c,d", "invalid coin_list: must be a list of at most 3 entries"},
		{"coin_list=a,b%20c", "invalid coin_list: a value in it must be a key"},
		{"coin_list=%FF", "invalid coin_list"},
		{"cut=1,x", "invalid cut: a value in it must be a whole number"},
		{"memberIds=12345", "a text of at most 4 characters"},
		{"sides=Buy,Hold", "one of Buy, Sell"},
		{"symbol=a:b&dbkey=b:b", "dbkey and symbol are given with different values"},
		{"symbol=a:b&symbol=b:b", "symbol is given more than once with different values"},
		{"interval=3m", "invalid interval: must be one of 1m, 2m, 5m, 15m, 30m, 1h, 4h, 8h, 12h, 1d"},
		{"period=1day", "invalid period: must be a period in seconds, one of 60, 180"},
		{"since=1790000000000", "invalid since: must be a time in seconds"},
		{"start_date=2026-02-30", "invalid start_date: must be an ISO 8601 date"},
		{"least=0.4999", "from 0.5 to 1000000000000000000"},
		{"least=NaN", "invalid least: must be a decimal number"},
		{"least=1e400000000", "invalid least"},
		{"flag=yes", "invalid flag: must be true or false"},
	} {
		if _, err := bindQuery(t, tt.query); err == nil || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v, want %q", tt.query, err, tt.message)
		}
	}
}

func TestAMessageShowsTheExampleOfItsParameter(t *testing.T) {
	t.Parallel()
	b := must.Get(compile(reflect.TypeFor[struct {
		Market catalog.Key   `query:"market" required:"true" example:"binance"`
		Pairs  []catalog.Key `query:"key_list" required:"true" max:"2" example:"btcusdt:binance"`
		Coin   catalog.Key   `query:"coin"`
	}](), http.MethodGet))(t)
	const key = "a key of 1 to 64 letters, digits or :._-/@+"
	for query, want := range map[string]string{
		"":                               "missing market: it must be " + key + " (for example binance)",
		"market=a":                       "missing key_list: it must be a list of at most 2 entries (for example btcusdt:binance)",
		"market=a&key_list=b%20c":        "invalid key_list: a value in it must be " + key + " (for example btcusdt:binance)",
		"market=a&key_list=b&coin=b%20c": "invalid coin: must be " + key,
	} {
		if _, err := b.bind(newRequest(httptest.NewRequest(http.MethodGet, "/?"+query, nil), time.Now())); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", query, err, want)
		}
	}
}

func TestABodyBindsListsAsArraysAndTexts(t *testing.T) {
	t.Parallel()
	type in struct {
		IDs       []int64           `body:"flash_ids" required:"true" min:"1" max:"3"`
		Addresses []catalog.Address `body:"addresses" cut:"1"`
		Pair      catalog.PairKey   `body:"symbol"`
		Least     catalog.Decimal   `body:"minVal,min_val"`
		Nulls     []int64           `body:"nulls" min:"1" max:"2" list:"set"`
	}
	least := catalog.Decimal{Decimal: udecimal.MustParse("5")}
	b := must.Get(compile(reflect.TypeFor[in](), http.MethodPost))(t)
	const address = "0x0123456789abcdef0123456789abcdef01234567"
	for _, tt := range []struct {
		body    string
		want    in
		message string
	}{
		{`{"flash_ids":[1,2]}`, in{IDs: []int64{1, 2}}, ""},
		{`{"flash_ids":["1","2"]}`, in{IDs: []int64{1, 2}}, ""},
		{`{"flash_ids":[1.0,20.00]}`, in{IDs: []int64{1, 20}}, ""},
		{`{"flash_ids":"1, 2,"}`, in{IDs: []int64{1, 2}}, ""},
		{`{"flash_ids":7,"key":"a:b"}`, in{IDs: []int64{7}, Pair: "a:b"}, ""},
		{`{"flash_ids":[1],"addresses":["` + address + `","x"]}`, in{IDs: []int64{1}, Addresses: []catalog.Address{address}}, ""},
		{`{"flash_ids":[1],"symbol":"a:b","key":"a:b","dbkey":"","dbKey":null}`, in{IDs: []int64{1}, Pair: "a:b"}, ""},
		{`{"flash_ids":[1],"minVal":5,"min_val":"5"}`, in{IDs: []int64{1}, Least: least}, ""},
		{`{"flash_ids":[1],"minVal":5,"min_val":"5.0"}`, in{IDs: []int64{1}, Least: least}, ""},
		{`{"flash_ids":[1],"minVal":5,"min_val":"five"}`, in{}, "minVal and min_val are given with different values"},
		{`{"flash_ids":[1],"symbol":"a:b","key":"A:B"}`, in{IDs: []int64{1}, Pair: "a:b"}, ""},
		{`{"flash_ids":[1],"nulls":[null]}`, in{IDs: []int64{1}, Nulls: []int64{}}, ""},
		{`{"flash_ids":[1],"nulls":[null,"7"]}`, in{IDs: []int64{1}, Nulls: []int64{7}}, ""},
		{`{"flash_ids":[1],"nulls":[null,7,null,8,"07"]}`, in{IDs: []int64{1}, Nulls: []int64{7, 8}}, ""},
		{`{"flash_ids":[1],"nulls":"null,7"}`, in{IDs: []int64{1}, Nulls: []int64{7}}, ""},
		{`{"flash_ids":[1],"nulls":[null,7,8,9]}`, in{}, "invalid nulls: must be a list of 1 to 2 entries"},
		{`{"flash_ids":[1],"nulls":[]}`, in{}, "invalid nulls: must be a list of 1 to 2 entries"},
		{`{"flash_ids":[1,"null"]}`, in{}, "a value in it must be a whole number"},
		{`{"flash_ids":[1],"symbol":"a:b","key":"b:b"}`, in{}, "symbol and key are given with different values"},
		{`{"flash_ids":[1],"minVal":5,"min_val":[5]}`, in{}, "minVal and min_val are given with different values"},
		{`{}`, in{}, "missing flash_ids: it must be a list of 1 to 3 entries"},
		{`{"flash_ids":""}`, in{}, "missing flash_ids"},
		{`{"flash_ids":null}`, in{}, "missing flash_ids"},
		{`{"flash_ids":[]}`, in{}, "invalid flash_ids: must be a list of 1 to 3 entries"},
		{`{"flash_ids":[1,2,3,4]}`, in{}, "invalid flash_ids: must be a list of 1 to 3 entries"},
		{`{"flash_ids":[null]}`, in{}, "invalid flash_ids"},
		{`{"flash_ids":[[1]]}`, in{}, "invalid flash_ids: a value in it must be a whole number"},
		{`{"flash_ids":{}}`, in{}, "invalid flash_ids"},
		{`{"flash_ids":[1.5]}`, in{}, "a value in it must be a whole number"},
		{`{"flash_ids":[1],"addresses":"x"}`, in{}, "invalid addresses: a value in it must be an address"},
	} {
		got, err := b.bind(newRequest(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tt.body)), time.Now()))
		switch {
		case tt.message != "":
			if err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("%s: %v, want %q", tt.body, err, tt.message)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.body, err)
		case !reflect.DeepEqual(*got.(*in), tt.want):
			t.Errorf("%s: bound %+v, want %+v", tt.body, got, tt.want)
		}
	}
}

func TestASpanIsNamedAsItIsSpelt(t *testing.T) {
	t.Parallel()
	type in struct {
		Start *catalog.Millis `body:"start_time,startTime"`
		End   *catalog.Millis `body:"end_time,endTime"`
		Other *catalog.Moment `body:"time2"`
	}
	b := must.Get(compile(reflect.TypeFor[in](), http.MethodPost))(t)
	for body, want := range map[string][2]string{
		`{"startTime":2,"endTime":1}`:                {"startTime", "endTime"},
		`{"start_time":2,"endTime":1}`:               {"start_time", "endTime"},
		`{"startTime":2}`:                            {"startTime", "end_time"},
		`{"startTime":2,"time2":"-1d"}`:              {"startTime", "time2"},
		`{"startTime":2,"endTime":"","time2":"-1d"}`: {"startTime", "time2"},
		`{"startTime":2,"endTime":1,"time2":"-1d"}`:  {"startTime", "endTime"},
	} {
		req := newRequest(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)), time.Now())
		bound := must.Get(b.bind(req))(t)
		if start, end := b.spanNames(bound, req); start != want[0] || end != want[1] {
			t.Errorf("%s: from %s to %s, want %v", body, start, end, want)
		}
	}
}

func TestWhatCannotBeBoundIsFoundAtTheStart(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]any{
		"two fields of one name": struct {
			Pair catalog.PairKey `query:"symbol"`
			Key  catalog.Key     `query:"key"`
		}{},
		"a list in the path": struct {
			Keys []catalog.Key `path:"keys"`
		}{},
		"bounds of a type without": struct {
			Key catalog.Key `query:"key" max:"5"`
		}{},
		"a bound that is no decimal": struct {
			Least catalog.Decimal `query:"least" min:"NaN"`
		}{},
		"no place": struct{ Limit int64 }{},
	} {
		if _, err := compile(reflect.TypeOf(in), http.MethodGet); err == nil {
			t.Errorf("%s was compiled", name)
		}
	}
}

// Whoever writes a word to choose from in capitals means that word, and who writes 24H means
// hours; of minutes and months the case of the letter says which is meant.
func TestEveryChoiceOfTheCatalogIsBoundInAnyLetterCase(t *testing.T) {
	t.Parallel()
	type choice struct {
		of    string
		set   setter[string]
		value string
	}
	var words, exact []choice
	for _, e := range catalog.All() {
		if e.Planned {
			continue
		}
		for _, p := range catalog.Parameters(e.In) {
			list := p.Field.Tag.Get("enum")
			if list == "" {
				continue
			}
			_, set := must.Get2(compileScalar(reflect.TypeFor[string](), p.Field.Tag))(t)
			for value := range strings.SplitSeq(list, "|") {
				c := choice{e.String() + " " + p.Names[0], set, value}
				if minutesOrMonths(value) {
					exact = append(exact, c)
				} else {
					words = append(words, c)
				}
			}
		}
	}
	bind := func(c choice, text string) (string, error) {
		at := reflect.New(reflect.TypeFor[string]()).Elem()
		err := c.set(at, text)
		return at.String(), err
	}
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(words).Draw(t, "choice")
		text := []byte(c.value)
		for i := range text {
			if rapid.Bool().Draw(t, "capital") {
				text[i] = strings.ToUpper(string(text[i]))[0]
			}
		}
		if got, err := bind(c, string(text)); err != nil || got != c.value {
			t.Fatalf("%s: %s is bound to %q (%v), want %q", c.of, text, got, err, c.value)
		}
	})
	for _, c := range exact {
		if got, err := bind(c, c.value); err != nil || got != c.value {
			t.Errorf("%s: %s is bound to %q (%v)", c.of, c.value, got, err)
		}
		if got, err := bind(c, strings.ToUpper(c.value)); err == nil {
			t.Errorf("%s: %s is bound to %q, want it refused", c.of, strings.ToUpper(c.value), got)
		}
	}
}

func TestChoicesThatDifferByLetterCaseAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	_, set := compileEnum([]string{"ab", "AB", "c"})
	for text, want := range map[string]string{"ab": "ab", "AB": "AB", "c": "c", "Ab": "", "C": ""} {
		at := reflect.New(reflect.TypeFor[string]()).Elem()
		if err := set(at, text); at.String() != want || (err == nil) != (want != "") {
			t.Errorf("%s is bound to %q (%v), want %q", text, at.String(), err, want)
		}
	}
}

// Whatever a query holds, it is bound or refused in words.
func FuzzQueriesAreBoundOrRefused(f *testing.F) {
	for _, seed := range []string{"coin_list=a,b&coin_list[]=c", "least=-0.1e-5&period=60", "start_date=2026-01-31T08:00:00Z&end_date=2026-01-31", "dbKey=a:b&interval=1d&since=5", "%ff=%ff&cut=1,,2", "sides=BUY&sides[]=sell&sides[3]=Sell"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.RawQuery = query
		b := must.Get(compile(reflect.TypeFor[everyType](), http.MethodGet))(t)
		bound, err := b.bind(newRequest(r, time.Now()))
		if err != nil {
			if res := newRequest(r, time.Now()).fail(err); res.status != http.StatusBadRequest || !utf8.Valid(res.body) {
				t.Fatalf("%q: %d %s", query, res.status, res.body)
			}
			return
		}
		in := bound.(*everyType)
		if len(in.Keys) > 3 || len(in.Cut) > 2 || len(in.Members) > 5 || in.Period.Duration() <= 0 || in.Interval.Duration() <= 0 ||
			slices.ContainsFunc(in.Sides, func(side string) bool { return side != "Buy" && side != "Sell" }) {
			t.Errorf("%q was bound to %+v", query, in)
		}
		if start := in.Start; !start.IsZero() {
			var again catalog.StartDate
			if err := again.UnmarshalText([]byte(start.Format(time.RFC3339Nano))); err != nil || !again.Equal(start.Time) {
				t.Errorf("%q: %v does not read back (%v)", query, start, err)
			}
		}
		if text := in.Least.String(); text != "0" {
			var again catalog.Decimal
			if err := again.UnmarshalText([]byte(text)); err != nil || again.Cmp(in.Least.Decimal) != 0 {
				t.Errorf("%q: %s does not read back (%v)", query, text, err)
			}
		}
	})
}
