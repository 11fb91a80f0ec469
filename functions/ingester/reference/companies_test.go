package reference

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/sec"
	"quotary/localstack/sim"
	"quotary/localstack/sim/indexsite"
	"quotary/shared/catalog"
	"quotary/shared/data/companies"
	"quotary/shared/data/drop"
	"quotary/shared/service/config"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestCompaniesThatAreAskedAbout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`: "[]",
		`[{"key":"i:mstr:nasdaq","cik":1050446}]`:   "[{i:mstr:nasdaq 1050446}]",
		`[{"key":"a b","cik":1}]`:                   "company 1: key must be",
		`[{"key":"a","cik":0}]`:                     "company 1: cik must be",
		`[{"key":"a","cik":10000000000}]`:           "company 1: cik must be",
		`[{"key":"a","cik":"1"}]`:                   "must be a JSON list of {key, cik}",
		`[{"key":"a","cik":1},{"key":"a","cik":2}]`: "company 2: its key is listed twice",
	} {
		set := map[string]string{catalog.EnvSECCompanies.Name: text, catalog.EnvSECURL.Name: "https://data.example", catalog.EnvSECContact.Name: "Acme ops@acme.example"}
		env := config.Env{Lookup: func(name string) (string, bool) { return set[name], set[name] != "" }}
		got := fmt.Sprint(Settings(&env).Filings.Companies)
		if err := env.Err(); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	set := map[string]string{catalog.EnvSECCompanies.Name: `[{"key":"a","cik":1}]`, catalog.EnvSECURL.Name: "https://data.example"}
	env := config.Env{Lookup: func(name string) (string, bool) { return set[name], set[name] != "" }}
	Settings(&env)
	if err := env.Err(); err == nil || !strings.Contains(err.Error(), "QUOTARY_SEC_CONTACT must say who asks") {
		t.Error(err)
	}
}

// TestFilingsAreStored runs the domain on the simulated upstream and a drop.
func TestFilingsAreStored(t *testing.T) {
	t.Parallel()
	site := indexsite.New(sim.Config{Seed: 7})
	upstream := httptest.NewServer(site.Handler())
	defer upstream.Close()
	on := storetest.Open(t)
	objects, bucket, views := on.Objects, on.Bucket, on.Views
	key := drop.Key(companies.Name, "mine.ndjson")
	lines := "{\"key\":\"i:mstr:nasdaq\",\"name\":\"Strategy\"}\n{\"key\":\"i:mine\",\"shares\":\"7\"}\n{}\n"
	must.Get(objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(lines)}))(t)
	c := Config{Filings: Filings{URL: upstream.URL + indexsite.SECPath, Contact: "Acme ops@acme.example", Companies: []sec.Company{{Key: "i:mstr:nasdaq", CIK: 1}, {Key: "i:coin:nasdaq", CIK: 2}}, Every: time.Hour},
		DropsEvery: time.Millisecond,
		Stores:     engine.Stores{Log: on.Log, Series: on.Series, Views: views, Quarantine: engine.Quarantine{Objects: objects, Bucket: bucket}},
		Objects:    objects, Bucket: bucket, Logger: slog.New(slog.DiscardHandler)}
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
		v, err := companies.Published.Open(views, time.Now).Get(t.Context())
		first, ok1 := v.Lookup("i:mstr:nasdaq")
		second, ok2 := v.Lookup("i:coin:nasdaq")
		mine, ok3 := v.Lookup("i:mine")
		one, two := site.Filed(1), site.Filed(2)
		return err == nil && ok1 && ok2 && ok3 && first.Name() == "Strategy" && second.Name() == two.Name && mine.Shares() == "7" &&
			first.Shares() == one.Shares && first.Cash() == one.Cash && first.Debt() == one.Debt &&
			second.Shares() == two.Shares && second.Cash() == two.Cash && second.Debt() == two.Debt
	}
	run("what was filed is stored", known)

	// The drop was taken and is not read again: its entries outlive the view.
	must.Get(objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("views/" + companies.Name + ".json.zst")}))(t)
	run("what was dropped is known again", known)
}
