package reference

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/daily"
	"quotary/localstack/sim"
	"quotary/localstack/sim/indexsite"
	"quotary/shared/catalog"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/service/config"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestSymbols(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:   "[]",
		`[]`: "[]",
		`[{"key":"i:mstr:nasdaq","symbol":"mstr.us","unit":"USD"},{"key":"i:spx:us","symbol":"^spx"}]`: "[{i:mstr:nasdaq mstr.us USD} {i:spx:us ^spx }]",
		`[{"key":"a b","symbol":"mstr.us"}]`:                                  "symbol 1: key must be",
		`[{"key":"a","symbol":"mstr.us&x=1"}]`:                                "symbol 1: symbol must be",
		`[{"key":"a","symbol":""}]`:                                           "symbol 1: symbol must be",
		`[{"key":"a","symbol":"x","unit":"dollars"}]`:                         "symbol 1: unit must be",
		`[{"key":"a","symbol":"x"},{"key":"a","symbol":"y"}]`:                 "symbol 2: its key is listed twice",
		`[{"key":"a","symbol":"x","currency":"USD"}]`:                         "must be a JSON list of {key, symbol, unit}",
		`[` + strings.Repeat(`{"key":"a","symbol":"x"},`, maxSymbols) + `{}]`: "at most 100 symbols",
	} {
		var env config.Env
		env.Lookup = func(name string) (string, bool) { return text, text != "" && name == catalog.EnvStooqSymbols.Name }
		got := fmt.Sprint(Settings(&env).Indices.Symbols)
		if err := env.Err(); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestIndexesAreStored runs the domain on the simulated upstreams and a drop, twice, and
// wants the days that they show in the rows and in the view.
func TestIndexesAreStored(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site := indexsite.New(sim.Config{Seed: 7, Now: func() time.Time { return now }})
	upstream := httptest.NewServer(site.Handler())
	defer upstream.Close()
	on := storetest.Open(t)
	objects, bucket, views, series := on.Objects, on.Bucket, on.Views, on.Series
	key, mended := drop.Key(indices.Name, "mine.ndjson"), now.UTC().AddDate(0, 0, -40).Format(time.DateOnly)
	lines := fmt.Sprintf("{\"key\":%q,\"date\":%q,\"close\":\"77\"}\n{\"key\":\"i:mine\",\"date\":\"2026-01-05\",\"close\":\"5.50\",\"unit\":\"USD\"}\n{}\n", indices.FearGreed, mended)
	must.Get(objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(lines)}))(t)
	symbols := []daily.Symbol{{Key: "i:spx:us", Name: "^spx"}, {Key: "i:mstr:nasdaq", Name: "mstr.us", Unit: "USD"}}
	c := Config{Indices: Indices{FearGreedURL: upstream.URL + indexsite.FearGreedPath, VIXURL: upstream.URL + indexsite.VIXPath, StooqURL: upstream.URL + indexsite.StooqPath, Symbols: symbols, Every: time.Millisecond},
		DropsEvery: time.Millisecond,
		Stores:     engine.Stores{Log: on.Log, Series: series, Views: views, Quarantine: engine.Quarantine{Objects: objects, Bucket: bucket}},
		Objects:    objects, Bucket: bucket, Logger: slog.New(slog.DiscardHandler)}
	// Every day as it is shown, but for the one that the drop mends.
	want := map[string]map[string]string{"i:mine": {"2026-01-05": "5.5 5.5 5.5 5.5"}}
	for k, name := range map[string]string{indices.FearGreed: indexsite.FearGreed, indices.VIX: indexsite.VIX, "i:spx:us": "^spx", "i:mstr:nasdaq": "mstr.us"} {
		want[k] = map[string]string{}
		for _, d := range site.Days(name) {
			want[k][d.Date] = fmt.Sprint(d.Open, " ", d.High, " ", d.Low, " ", d.Close)
		}
	}
	want[indices.FearGreed][mended] = "77 77 77 77"
	var missing string
	stored := func() bool {
		view, err := indices.Published.Open(views, time.Now).Get(t.Context())
		for key, days := range want {
			got, errDays := indices.Read(t.Context(), series, key, time.Time{}, time.Time{})
			newest, ok := view.Lookup(key)
			if missing = key; err != nil || errDays != nil || !ok || len(got) != len(days) {
				return false
			}
			for _, d := range got {
				if missing = key + " " + d.Date; days[d.Date] != fmt.Sprint(d.Open, " ", d.High, " ", d.Low, " ", d.Close) {
					return false
				}
			}
			if last := newest.Days[len(newest.Days)-1]; last != got[len(got)-1] {
				return false
			}
		}
		return true
	}
	for range 2 { // the second life is told all of it again
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.pipeline(nil).Run(ctx) }()
		testenv.Until(t, "the days are stored", stored)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if !stored() {
			t.Errorf("%s is not as it is shown", missing)
		}
	}
}
