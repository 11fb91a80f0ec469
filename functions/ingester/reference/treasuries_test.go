package reference

import (
	"context"
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
	"quotary/shared/data/drop"
	"quotary/shared/data/treasuries"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestHoldingsAreStored runs the domain on a drop and on simulated filings: both are there when
// the view was lost too.
func TestHoldingsAreStored(t *testing.T) {
	t.Parallel()
	site := indexsite.New(sim.Config{Seed: 7})
	upstream := httptest.NewServer(site.Handler())
	defer upstream.Close()
	on := storetest.Open(t)
	key := drop.Key(treasuries.Name, "mine.ndjson")
	lines := `{"coin":"BTC","name":"Acme","date":"2026-01-05","type":"buy","amount":"7.25","cost_usd":"700000"}
{"coin":"BTC","name":"Acme","date":"2026-02-05","type":"sell","amount":"2"}
{"coin":"BTC","name":"Acme","date":"2026-02-06","type":"bought","amount":"2"}
`
	must.Get(on.Objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &on.Bucket, Key: &key, Body: strings.NewReader(lines)}))(t)
	c := Config{Filings: Filings{URL: upstream.URL + indexsite.SECPath, Contact: "Acme ops@acme.example", Companies: []sec.Company{{Key: "i:coin:nasdaq", CIK: 2}}, Every: time.Hour},
		DropsEvery: time.Millisecond,
		Stores:     engine.Stores{Log: on.Log, Series: on.Series, Views: on.Views, Quarantine: engine.Quarantine{Objects: on.Objects, Bucket: on.Bucket}},
		Objects:    on.Objects, Bucket: on.Bucket, Logger: slog.New(slog.DiscardHandler)}
	run := func(what string) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.pipeline(nil).Run(ctx) }()
		testenv.Until(t, what, func() bool {
			h, err := treasuries.Open(on.Views, time.Now).Get(t.Context())
			held := map[string]string{}
			for i := range h.Holders {
				held[h.Holders[i].Coin+" "+h.Holders[i].Name] = h.Holders[i].Amount.String()
			}
			return err == nil && len(held) == 2 && held["BTC Acme"] == "5.25" && held["BTC "+site.Filed(2).Name] == site.Held(2)
		})
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	run("what was dropped and filed is stored")
	must.Get(on.Objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &on.Bucket, Key: aws.String("views/" + treasuries.Name + ".json.zst")}))(t)
	run("what was dropped and filed is known again")
}
