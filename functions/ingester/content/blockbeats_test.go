package content

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/blockbeats"
	"quotary/functions/ingester/source/feeds"
	"quotary/localstack/sim"
	"quotary/localstack/sim/newssite"
	"quotary/shared/data/flashes"
	"quotary/shared/service/config"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestSettingsOfAVendor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "<nil> hush 1m0s", "https://flashes.example/v1": "https://flashes.example/v1 hush 1m0s", "flashes.example": "QUOTARY_BLOCKBEATS_URL must be an address"} {
		env := config.Env{Lookup: func(name string) (string, bool) {
			value, ok := map[string]string{"QUOTARY_BLOCKBEATS_URL": text, "QUOTARY_BLOCKBEATS_KEY": "hush"}[name]
			return value, ok && value != ""
		}}
		v := Settings(&env).BlockBeats
		got := fmt.Sprint(v.URL, " ", v.Key, " ", v.Every)
		if err := env.Err(); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || len((Config{BlockBeats: v, Logger: slog.New(slog.DiscardHandler)}).blockBeatsSources(feeds.NewClient())) != map[bool]int{true: 4}[v.URL != nil] {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// vendor is a configuration that follows the lists at an address.
func (w *world) vendor(t *testing.T, address string, every time.Duration) Config {
	t.Helper()
	u := must.Get(url.Parse(address))(t)
	return Config{Stores: w.stores, Objects: w.objects, Bucket: w.bucket, DropsEvery: 5 * time.Millisecond, Logger: slog.New(slog.DiscardHandler), BlockBeats: BlockBeats{URL: u, Every: every}}
}

// TestFlashesOfAVendorAreStored follows a simulated vendor while it writes and edits.
func TestFlashesOfAVendorAreStored(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	site := newssite.New(sim.Config{Now: now})
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	w := newWorld(t)
	stop := w.start(t, w.vendor(t, server.URL+newssite.FlashPath, 5*time.Millisecond).pipeline())
	for range 2 {
		for _, language := range []string{newssite.English, newssite.Chinese} {
			var want []string
			for _, f := range site.Flashes(server.URL, language, now()) {
				want = append(want, fmt.Sprint(f.Title, f.Content, f.Link, f.Pic, f.Published.Unix(), f.Important, "BlockBeats"))
			}
			testenv.Until(t, "the flashes are those that the vendor lists", func() bool {
				v, err := flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context())
				if err != nil {
					return false
				}
				page, _ := v.Select(flashes.Selection{Platform: flashes.House, Language: language, Limit: len(want)})
				var got []string
				for _, f := range page {
					got = append(got, fmt.Sprint(f.Title, f.Content, f.Link, f.Pictures, f.Time, f.Important, f.Source))
				}
				return slices.Equal(got, want)
			})
		}
		clock.Add(int64(8 * time.Minute)) // some are edited
	}
	stop()
}

// TestWhatAnOperatorSaysOfAFlashHolds hides a flash of a vendor with a file, whereafter the
// vendor edits it.
func TestWhatAnOperatorSaysOfAFlashHolds(t *testing.T) {
	t.Parallel()
	var titles atomic.Pointer[[2]string]
	titles.Store(&[2]string{"Hide me", "Edit me"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("lang") != "en" || r.FormValue("type") == "push" || r.FormValue("page") != "1" {
			_, _ = io.WriteString(w, `{"status":0,"data":{"page":1,"data":[]}}`)
			return
		}
		list := []map[string]any{}
		for n, title := range titles.Load() {
			list = append(list, map[string]any{"id": n + 1, "title": title, "create_time": fmt.Sprint(1_795_000_000 - n)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": 0, "data": map[string]any{"data": list}})
	}))
	t.Cleanup(server.Close)
	w := newWorld(t)
	stop := w.start(t, w.vendor(t, server.URL, 5*time.Millisecond).pipeline())
	listed := func() (list []flashes.Flash) {
		v, err := flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		list, _ = v.Select(flashes.Selection{Platform: flashes.House, Language: "en", Limit: 10})
		return list
	}
	testenv.Until(t, "both are listed", func() bool { return len(listed()) == 2 })
	line := fmt.Sprintf(`{"id":%d,"time":1795000000,"language":"en","title":"x","hidden":true}`, listed()[0].ID)
	must.Get(w.objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &w.bucket, Key: aws.String("drop/flashes/a.ndjson"), Body: strings.NewReader(line)}))(t)
	testenv.Until(t, "one is hidden", func() bool { return len(listed()) == 1 })
	titles.Store(&[2]string{"Show me again", "Edited"})
	testenv.Until(t, "the other is edited", func() bool { list := listed(); return len(list) == 1 && list[0].Title == "Edited" })
	stop()
}

func TestFlashesOfTimesThatCannotBeTrueAreLeftOut(t *testing.T) {
	t.Parallel()
	seen := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	v := vendorList{blockbeats.List{Language: "en"}, new(source.Stats)}
	d := feeds.Delivery{Time: seen}
	for n, at := range []time.Time{{}, seen.Add(time.Hour), time.Unix(0, 0), time.Date(2008, 5, 1, 0, 0, 0, 0, time.UTC), seen.Add(-time.Minute)} {
		d.Items = append(d.Items, feeds.Item{Key: fmt.Sprint(n + 1), Title: "T", Published: at, Image: "https://pics.example/?a b"})
	}
	b := v.batch(&d)
	if len(b.Flashes) != 1 || v.stats.Malformed.Load() != 4 || b.Flashes[0].Time != seen.Unix()-60 || b.Flashes[0].Pictures != "https://pics.example/?a%20b" {
		t.Errorf("%+v, %d malformed", b.Flashes, v.stats.Malformed.Load())
	}
}
