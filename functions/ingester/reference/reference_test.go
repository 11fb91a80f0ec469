package reference

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/companies"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/othervenues"
	"quotary/shared/data/rates"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/service/config"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// generators draw batches of each projection, by name.
var generators = map[string]func(*rapid.T) *Batch{
	rates.Name:       drawRates,
	coins.Name:       drawCoins,
	indices.Name:     drawIndices,
	companies.Name:   drawCompanies,
	treasuries.Name:  drawTreasuries,
	othervenues.Name: drawVenues,
	cointickers.Name: func(t *rapid.T) *Batch { b := drawCoins(t); b.Merge(drawRates(t)); return b },
}

func drawRates(t *rapid.T) *Batch {
	day := rapid.Custom(func(t *rapid.T) market.DayRates {
		n := rapid.IntRange(0, 9).Draw(t, "day")
		// Of a day there is one rate.
		usd, errUSD := market.ParseDecimal(fmt.Sprintf("1.0%d", n))
		cny, errCNY := market.ParseDecimal(fmt.Sprintf("7.%d", n))
		if errUSD != nil || errCNY != nil {
			t.Fatal(errUSD, errCNY)
		}
		return market.DayRates{Date: fmt.Sprintf("2026-03-%02d", 10+n), USD: usd, CNY: cny}
	})
	return &Batch{Rates: rapid.SliceOfN(day, 0, 4).Draw(t, "rates")}
}

func drawCompanies(t *rapid.T) *Batch {
	key, figure := rapid.SampledFrom([]string{"i:acme:nyse", "i:other:nyse"}), rapid.SampledFrom([]string{"1", "2"})
	filed := rapid.Custom(func(t *rapid.T) companies.Filed {
		return companies.FiledOf(market.CompanyFacts{Key: key.Draw(t, "key"), Cash: market.Fact{Value: figure.Draw(t, "cash")}}, rapid.Int64Range(0, 3).Draw(t, "asked"))
	})
	dropped := rapid.Custom(func(t *rapid.T) companies.Dropped {
		line := rapid.Int64Range(1, 9).Draw(t, "line")
		return companies.Dropped{Entry: companies.Entry{Key: []string{"i:acme:nyse", "i:mine:x"}[line%2], Shares: fmt.Sprint(line)}, Place: drop.Place{Time: line / 4, File: "a", Line: line}}
	})
	return &Batch{Filings: rapid.SliceOfN(filed, 0, 4).Draw(t, "filings"), Companies: rapid.SliceOfN(dropped, 0, 4).Draw(t, "companies")}
}

func drawVenues(t *rapid.T) *Batch {
	dropped := rapid.Custom(func(t *rapid.T) othervenues.Dropped {
		line := rapid.Int64Range(1, 30).Draw(t, "line")
		// What stands in a line follows from its place.
		e := othervenues.Entry{Address: fmt.Sprintf("0x%040x", line%4), Venues: []string{"Alpha", "Beta", "Gamma"}[line%3 : min(3, line%3+line%4)]}
		return othervenues.Dropped{Entry: e, Place: drop.Place{Time: line / 5, File: "a", Line: line}}
	})
	return &Batch{Venues: rapid.SliceOfN(dropped, 0, 4).Draw(t, "entries")}
}

func drawTreasuries(t *rapid.T) *Batch {
	dropped := rapid.Custom(func(t *rapid.T) treasuries.Dropped {
		line := rapid.Int64Range(1, 12).Draw(t, "line")
		// What stands in a line follows from its place.
		e := treasuries.Entry{Coin: "BTC", Name: "Acme", Date: fmt.Sprint("2026-01-1", line%3), Type: []string{"buy", "sell"}[line%2], Amount: fmt.Sprint(line), Removed: line%5 == 0}
		return treasuries.Dropped{Entry: e, Place: drop.Place{Time: line / 5, File: "a", Line: line}}
	})
	filed := rapid.Custom(func(t *rapid.T) treasuries.Filed {
		return treasuries.Filed{Key: "i:acme:nyse", Name: "ACME", Coin: "BTC", Date: rapid.SampledFrom([]string{"2026-03-31", "2026-06-30"}).Draw(t, "of"),
			Amount: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "amount"), On: rapid.SampledFrom([]string{"2026-08-01", "2026-08-02"}).Draw(t, "on")}
	})
	return &Batch{Treasuries: rapid.SliceOfN(dropped, 0, 4).Draw(t, "entries"), Held: rapid.SliceOfN(filed, 0, 4).Draw(t, "held")}
}

func drawIndices(t *rapid.T) *Batch {
	day := rapid.Custom(func(t *rapid.T) indices.DayEntry {
		told := drop.Place{Time: rapid.Int64Range(0, 3).Draw(t, "told")}
		if rapid.Bool().Draw(t, "dropped") {
			told.File, told.Line = "a", 1
		}
		// What is told of a day at a time is one thing.
		return indices.DayEntry{Key: rapid.SampledFrom([]string{indices.VIX, "i:mine"}).Draw(t, "key"),
			Day: indices.Day{Date: fmt.Sprintf("2026-%02d-28", 1+rapid.IntRange(0, 3).Draw(t, "month")), Close: fmt.Sprint(told.Time % 2), Place: told}}
	})
	return &Batch{Indices: rapid.SliceOfN(day, 0, 4).Draw(t, "days")}
}

func drawCoins(t *rapid.T) *Batch {
	key := rapid.SampledFrom([]string{"bitcoin", "ethereum", "a-b_c"})
	name := rapid.SampledFrom([]string{"", "One", "Two"})
	figure := rapid.OneOf(rapid.Just(""), markettest.Decimal(6, 6))
	listed := rapid.Custom(func(t *rapid.T) market.CoinMarket {
		return market.CoinMarket{Key: key.Draw(t, "key"), Symbol: name.Draw(t, "symbol"), Name: name.Draw(t, "name"), Rank: rapid.Int64Range(0, 3).Draw(t, "rank"),
			Time: markettest.Base + rapid.Int64Range(0, 3).Draw(t, "made")*coins.MaxAge.Milliseconds()*2/3, Price: figure.Draw(t, "price"), Degree24h: figure.Draw(t, "24h"),
			Degree7d: figure.Draw(t, "7d"), MarketCap: figure.Draw(t, "cap"), Turnover24h: figure.Draw(t, "turnover")}
	})
	dropped := rapid.Custom(func(t *rapid.T) coins.Dropped {
		line := rapid.Int64Range(1, 50).Draw(t, "line")
		// What stands in a line follows from its place.
		show := fmt.Sprint("S", line)
		return coins.Dropped{Entry: coins.Entry{CoinKey: []string{"bitcoin", "mine"}[line%2], Show: show, Hidden: line%7 == 0}, Place: drop.Place{Time: line / 9, File: "a", Line: line}}
	})
	theme := rapid.Custom(func(t *rapid.T) market.CoinTheme {
		return market.CoinTheme{Key: rapid.SampledFrom([]string{"defi", "web"}).Draw(t, "theme"), Time: rapid.Int64Range(1, 3).Draw(t, "asked"),
			Coins: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 2).Draw(t, "of theme")}
	})
	return &Batch{Themes: rapid.SliceOfN(theme, 0, 3).Draw(t, "themes"), Coins: rapid.SliceOfN(listed, 0, 4).Draw(t, "coins"), Entries: rapid.SliceOfN(dropped, 0, 4).Draw(t, "entries")}
}

// run applies batches to a life of all projections after another: a life ends
// where the next begins, with what was published by then.
func run(t *rapid.T, batches []*Batch, ends func() bool) map[string]string {
	published, rows := map[string][]byte{}, map[store.SeriesAt]store.Point{}
	var all []Projection
	begin := func() {
		all = Projections(new(leftOut))
		for _, p := range all {
			must.Do(t, p.Restore(published))
			p.Joined()
		}
	}
	apply := func(b *Batch) {
		for _, p := range all {
			reads := engine.NewReads()
			for p.Prefetch(b, reads); ; p.Prefetch(b, reads) {
				if _, wanted := reads.Wanted(); len(wanted) == 0 {
					break
				}
				reads.Fill(nil, rows)
			}
			must.Do(t, p.Apply(b, reads, time.UnixMilli(markettest.Base)))
		}
	}
	publish := func() bool {
		for _, p := range all {
			changes := p.Changes(time.UnixMilli(markettest.Base), true)
			for _, row := range changes.Fine {
				rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
				if ends() {
					return false
				}
			}
			for _, v := range changes.Views {
				published[v.Name] = v.Body
				if ends() { // between two writes
					return false
				}
			}
		}
		return true
	}
	begin()
	for i := 0; i < len(batches); i++ {
		apply(batches[i])
		if !publish() || ends() { // the batch comes again, as its checkpoint was not saved
			begin()
			i--
		}
	}
	begin()
	apply(NewBatch()) // nothing is left to be written
	publish()
	texts := map[string]string{}
	for name, body := range published {
		texts[name] = string(body)
	}
	for at, row := range rows {
		texts[fmt.Sprint(at.Key, at.Time.UnixMilli())] = string(row.Body)
	}
	return texts
}

// TestViewsEndTheSameWhateverHappens gives batches in any order and twice to lives
// that end between any two writes, and wants the views of one clean life.
func TestViewsEndTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	for _, p := range Projections(new(leftOut)) {
		draw := generators[p.Name()]
		if draw == nil {
			t.Fatalf("%s has no generator", p.Name())
		}
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				batches := rapid.SliceOfN(rapid.Custom(draw), 1, 6).Draw(t, "batches")
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				want := run(t, batches, func() bool { return false })
				muddled := append(slices.Clone(batches), batches[r.IntN(len(batches))])
				r.Shuffle(len(muddled), func(i, j int) { muddled[i], muddled[j] = muddled[j], muddled[i] })
				got := run(t, append(muddled, batches...), func() bool { return r.IntN(4) == 0 })
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("(-clean +muddled):\n%s", diff)
				}
			})
		})
	}
}

// A coin that the source of prices does not name any more leaves the list, and one that a
// drop names stays there without its rank.
func TestACoinIsListedForAsLongAsItIsNamed(t *testing.T) {
	t.Parallel()
	names, prices := newCoinNames(), newCoinPrices()
	at := int64(markettest.Base)
	poll := func(keys ...string) (listed, priced []string) {
		t.Helper()
		at += coins.MaxAge.Milliseconds() / 2
		b := NewBatch()
		for i, key := range keys {
			b.Coins = append(b.Coins, market.CoinMarket{Key: key, Symbol: "X", Rank: int64(i + 1), Time: at, Price: "1"})
		}
		b.Entries = []coins.Dropped{{Entry: coins.Entry{CoinKey: "dropped"}, Place: drop.Place{Time: 1, File: "a", Line: 1}}}
		for _, p := range []Projection{names, prices} {
			must.Do(t, p.Apply(b, nil, time.UnixMilli(at)))
		}
		v := must.Get(coins.Published.Decode(names.Changes(time.UnixMilli(at), true).Views[0].Body))(t)
		for _, c := range v.Coins {
			rank := int64(0)
			if c.Listing != nil {
				rank = c.Listing.Rank
			}
			listed = append(listed, fmt.Sprint(c.Key, " ", rank))
		}
		w := must.Get(cointickers.Published.Decode(prices.Changes(time.UnixMilli(at), true).Views[0].Body))(t)
		for _, one := range w.Tickers {
			priced = append(priced, one.Key)
		}
		return listed, priced
	}
	for i, c := range []struct {
		named  []string
		listed string
		priced string
	}{
		{[]string{"a", "gone", "dropped"}, "a 1,gone 2,dropped 3", "a,dropped,gone"},
		{[]string{"a"}, "a 1,gone 2,dropped 3", "a,dropped,gone"},
		{[]string{"a"}, "a 1,gone 2,dropped 3", "a,dropped,gone"}, // after a day
		{[]string{"a"}, "a 1,dropped 0", "a"},
		{[]string{"b", "gone"}, "a 1,b 1,gone 2,dropped 0", "a,b,gone"},
	} {
		listed, priced := poll(c.named...)
		if got := strings.Join(listed, ","); got != c.listed {
			t.Errorf("look %d: %s are listed, want %s", i, got, c.listed)
		}
		if got := strings.Join(priced, ","); got != c.priced {
			t.Errorf("look %d: %s have prices, want %s", i, got, c.priced)
		}
	}
}

// A source whose clock stands still names others at every poll: what is kept of it is bounded, and
// the newest stay.
func TestCoinsAreKeptToABound(t *testing.T) {
	t.Parallel()
	names, prices := newCoinNames(), newCoinPrices()
	at := time.UnixMilli(int64(markettest.Base))
	var listed coins.View
	var priced cointickers.View
	for poll := range 4 {
		b := NewBatch()
		for n := range 10_000 {
			b.Coins = append(b.Coins, market.CoinMarket{Key: fmt.Sprintf("coin-%d-%d", poll, n), Symbol: "X", Rank: 1, Time: at.UnixMilli() + int64(poll), Price: "1"})
		}
		var errs [2]error
		for i, p := range []Projection{names, prices} {
			errs[i] = p.Apply(b, nil, at)
		}
		var decoded [2]error
		listed, decoded[0] = coins.Published.Decode(names.Changes(at, true).Views[0].Body)
		priced, decoded[1] = cointickers.Published.Decode(prices.Changes(at, true).Views[0].Body)
		must.Do(t, errors.Join(errors.Join(errs[:]...), errors.Join(decoded[:]...)))
	}
	for what, keys := range map[string][]string{
		"names":  collect(listed.Coins, func(c coins.Coin) string { return c.Key }),
		"prices": collect(priced.Tickers, func(p cointickers.Ticker) string { return p.Key }),
	} {
		newest := 0
		for _, key := range keys {
			if strings.HasPrefix(key, "coin-3-") {
				newest++
			}
		}
		if len(keys) != 25_000 || newest != 10_000 {
			t.Errorf("%d %s are kept, %d of the newest", len(keys), what, newest)
		}
	}
}

func collect[T any](list []T, key func(T) string) (keys []string) {
	for _, one := range list {
		keys = append(keys, key(one))
	}
	return keys
}

func TestABatchMergesAllItHolds(t *testing.T) {
	t.Parallel()
	full := func() *Batch {
		return &Batch{Coins: make([]market.CoinMarket, 1), Themes: make([]market.CoinTheme, 1), Rates: make([]market.DayRates, 1), Entries: make([]coins.Dropped, 1), Indices: make([]indices.DayEntry, 1),
			Filings: make([]companies.Filed, 1), Companies: make([]companies.Dropped, 1), Treasuries: make([]treasuries.Dropped, 1), Held: make([]treasuries.Filed, 1), Venues: make([]othervenues.Dropped, 1)}
	}
	b := full()
	b.Merge(full())
	b.Merge(nil)
	v := reflect.ValueOf(*b)
	for i := range v.NumField() {
		if v.Field(i).Len() != 2 {
			t.Errorf("%s is not merged", v.Type().Field(i).Name)
		}
	}
	if b.Len() != 2*v.NumField() {
		t.Errorf("%d events", b.Len())
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	var none config.Env
	none.Lookup = func(string) (string, bool) { return "", false }
	if c := Settings(&none); c.CoinsURL != "" || c.RatesURL != "" || c.CoinsPages != 1 || c.CoinsEvery != 5*time.Minute || c.DropsEvery != time.Minute || none.Err() != nil {
		t.Errorf("%+v, %v", c, none.Err())
	}
	var bad config.Env
	bad.Lookup = func(name string) (string, bool) {
		return map[string]string{"QUOTARY_COINGECKO_PAGES": "0"}[name], name == "QUOTARY_COINGECKO_PAGES"
	}
	Settings(&bad)
	if err := bad.Err(); err == nil || !strings.Contains(err.Error(), "QUOTARY_COINGECKO_PAGES must be a whole number of at least 1") {
		t.Error(err)
	}
}

// TestTheDomainFollowsItsSources runs the domain on upstreams of our own and a drop.
func TestTheDomainFollowsItsSources(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/coins/") {
			fmt.Fprint(w, `[{"id":"bitcoin","symbol":"btc","name":"Bitcoin","market_cap_rank":1,"current_price":100,"price_change_percentage_24h":1.5,"last_updated":"2026-11-20T16:00:00Z"}]`)
			return
		}
		fmt.Fprint(w, `<Envelope><Cube><Cube time="2026-11-20"><Cube currency="USD" rate="1.1"/><Cube currency="CNY" rate="7.7"/></Cube><Cube time="2026-11-19"><Cube currency="USD" rate="1"/><Cube currency="CNY" rate="7"/></Cube></Cube></Envelope>`)
	}))
	defer upstream.Close()
	on := storetest.Open(t)
	objects, bucket, views := on.Objects, on.Bucket, on.Views
	key := drop.Key("coins", "names.ndjson")
	must.Get(objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("{\"coin_key\":\"bitcoin\",\"cn_name\":\"比特币\"}\n{\"coin_key\":\"x y\"}\n{\"coin_key\":\"mine\"}")}))(t)
	c := Config{CoinsURL: upstream.URL, CoinsPages: 1, CoinsEvery: time.Hour, RatesURL: upstream.URL, DropsEvery: time.Millisecond,
		Stores: engine.Stores{Log: on.Log, Series: on.Series, Views: views,
			Quarantine: engine.Quarantine{Objects: objects, Bucket: bucket}},
		Objects: objects, Bucket: bucket, Logger: slog.New(slog.DiscardHandler)}
	run := func(what string, until func() bool) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.pipeline(nil).Run(ctx) }()
		testenv.Until(t, what, until)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	known := func() bool {
		prices, _ := cointickers.Published.Open(views, time.Now).Get(t.Context())
		names, _ := coins.Published.Open(views, time.Now).Get(t.Context())
		bitcoin, ok := prices.Lookup("bitcoin")
		return ok && bitcoin.PriceCNY == "700" && bitcoin.Degree24hCNY == "1.5" && len(names.Coins) == 2 &&
			names.Coins[0].Key == "bitcoin" && names.Coins[0].CNName() == "比特币" && names.Coins[0].Show() == "BTC" && names.Coins[1].Show() == "mine"
	}
	run("the price of bitcoin is known in yuan, and its name in Chinese", known)

	// The drop was taken and is not read again: its names outlive the view.
	must.Get(objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("views/" + coins.Name + ".json.zst")}))(t)
	if known() {
		t.Fatal("the view is not lost")
	}
	run("the names are known again", known)
}
