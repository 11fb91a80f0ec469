package reference

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/engine"
	"quotary/shared/aws/metrics"
	"quotary/shared/data/drop"
	"quotary/shared/data/othervenues"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestOtherVenuesAreStored runs the domain on two drops, of which the later one replaces a line, and again
// without the view.
func TestOtherVenuesAreStored(t *testing.T) {
	t.Parallel()
	on := storetest.Open(t)
	c := Config{DropsEvery: time.Millisecond, Objects: on.Objects, Bucket: on.Bucket, Logger: slog.New(slog.DiscardHandler),
		Stores: engine.Stores{Log: on.Log, Series: on.Series, Views: on.Views, Quarantine: engine.Quarantine{Objects: on.Objects, Bucket: on.Bucket}}}
	put := func(file string, lines ...string) {
		t.Helper()
		key := drop.Key(othervenues.Name, file)
		must.Get(on.Objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &on.Bucket, Key: &key, Body: strings.NewReader(strings.Join(lines, "\n"))}))(t)
	}
	line := func(n int, venues string) string {
		return fmt.Sprintf(`{"address":"0x%040X","venues":[%s]}`, n, venues)
	}
	run := func(want string) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.pipeline(nil).Run(ctx) }()
		got := ""
		testenv.Until(t, want, func() bool {
			x, err := othervenues.OpenIndex(on.Views, time.Now).Get(t.Context())
			got = ""
			for n := range 5 {
				if of := x.Of(table.Address{19: byte(n + 10)}); of != nil {
					got += fmt.Sprint(n, " ", of.Names, " ")
				}
			}
			return err == nil && got == want
		})
		stop()
		must.Do(t, <-ended)
	}
	put("a.ndjson", line(10, `"Beta","Alpha"`), line(11, ``), line(12, `"Alpha"`), `{"address":"0x12","venues":[]}`)
	run("0 [Alpha Beta] 1 [] 2 [Alpha] ")
	put("b.ndjson", line(12, `"Gamma"`), line(14, `"Alpha"`))
	run("0 [Alpha Beta] 1 [] 2 [Gamma] 4 [Alpha] ")
	must.Get(on.Objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &on.Bucket, Key: aws.String("views/" + othervenues.Name + ".json.zst")}))(t)
	run("0 [Alpha Beta] 1 [] 2 [Gamma] 4 [Alpha] ")
}

func TestLinesWithoutRoomAreCounted(t *testing.T) {
	t.Parallel()
	c := Config{Logger: slog.New(slog.DiscardHandler)}
	p := c.pipeline(nil)
	b := NewBatch()
	for n := range othervenues.MostNames + 7 {
		b.Venues = append(b.Venues, othervenues.Dropped{Entry: othervenues.Entry{Address: fmt.Sprintf("0x%040x", n), Venues: []string{fmt.Sprint("venue ", n)}}, Place: drop.Place{Time: 1, File: "a", Line: int64(n + 1)}})
	}
	for _, one := range p.Projections {
		must.Do(t, one.Apply(b, nil, time.Now()))
	}
	if f := p.Figures()[0]; f.Name != metrics.OtherVenuesLeftOut || f.Value != 7 || !f.Grows {
		t.Errorf("%+v", f)
	}
}
