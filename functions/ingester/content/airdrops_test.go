package content

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/airdrops"
	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
	"quotary/shared/data/members"
	"quotary/shared/data/news"
	"quotary/shared/data/readings"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// drawAirdrop draws an entry. What stands in a line follows from its place.
func drawAirdrop(t *rapid.T) airdrops.Airdrop {
	line := rapid.Int64Range(1, 60).Draw(t, "line")
	return airdrops.Airdrop{
		Entry: airdrops.Entry{AirdropID: fmt.Sprint("a", line%4), Source: "alpha", Exchange: "binance", ProjectName: fmt.Sprint("P", line), ContentEN: "text",
			StartTime: 1_795_000_000_000 + line%5, Hidden: line%7 == 0},
		Place: drop.Place{Time: line / 9, File: "a", Line: line},
	}
}

func TestOnlyTheNewestAirdropsAreListed(t *testing.T) {
	t.Parallel()
	p, b := airdropEntries.newView().(*engine.ViewProjection[*Batch, airdrops.View, *entriesView[airdrops.Airdrop, airdrops.View]]), NewBatch()
	for n := range int64(airdrops.Listed + 3) {
		b.Airdrops = append(b.Airdrops, airdrops.Airdrop{Entry: airdrops.Entry{AirdropID: fmt.Sprint(n), StartTime: 1_795_000_000_000 + n}, Place: drop.Place{Line: n + 1}})
	}
	must.Do(t, p.Apply(b, nil, time.Now()))
	v, err := airdrops.Published.Decode(p.Changes(time.Now(), true).Views[0].Body)
	if err != nil || len(v.Airdrops) != airdrops.Listed || v.Airdrops[0].AirdropID != fmt.Sprint(airdrops.Listed+2) || len(p.State.byID) != airdrops.Listed {
		t.Errorf("%d airdrops, %v", len(v.Airdrops), err)
	}
}

func TestABatchMergesAllItHolds(t *testing.T) {
	t.Parallel()
	full := func() *Batch {
		return &Batch{News: make([]news.Item, 1), Airdrops: make([]airdrops.Airdrop, 1), Flashes: make([]flashes.Flash, 1), Members: make([]members.Member, 1), Readings: make([]readings.Reading, 1)}
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

// A file is taken once, and its airdrops are listed and have their texts, also when the
// view was lost.
func TestAirdropsOfAFileAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put := func(file, text string) string {
		t.Helper()
		key := drop.Key(airdrops.Name, file)
		must.Get(w.objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &w.bucket, Key: &key, Body: strings.NewReader(text)}))(t)
		return key
	}
	line := func(id, title string) string {
		return fmt.Sprintf(`{"airdrop_id":%q,"source":"hodler","exchange":"binance","project_name":"P","title_en":%q,"content_en":"# %[2]s\n<b>"}`+"\n", id, title)
	}
	key := put("a.ndjson", line("one", "First")+`{"airdrop_id":"two","source":"unknown"}`+"\n"+line("one", "Second")+line("three", "Third"))
	listed := func() (list []string) {
		v, err := airdrops.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		for i := range v.Airdrops {
			a := &v.Airdrops[i]
			content, err := airdrops.Content(t.Context(), w.stores.Log, a, airdrops.English)
			list = append(list, fmt.Sprintf("%s %s %q %v", a.AirdropID, a.Title(airdrops.English), content, err))
		}
		slices.SortFunc(list, cmp.Compare[string])
		return list
	}
	want := []string{`one Second "# Second\n&lt;b>" <nil>`, `three Third "# Third\n&lt;b>" <nil>`}
	stop := w.start(t, w.pipeline(w.stores))
	testenv.Until(t, "the airdrops are listed", func() bool { return slices.Equal(listed(), want) })
	testenv.Until(t, "the bad line is reported", func() bool {
		_, err := w.objects.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &w.bucket, Key: aws.String(key + drop.Suffix)})
		return err == nil
	})
	put("b.ndjson", line("one", "Later"))
	want[0] = `one Later "# Later\n&lt;b>" <nil>`
	testenv.Until(t, "a later line replaces it", func() bool { return slices.Equal(listed(), want) })
	stop()

	must.Get(w.objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &w.bucket, Key: aws.String("views/" + airdrops.Name + ".json.zst")}))(t)
	if got := listed(); len(got) > 0 {
		t.Fatalf("the view is not lost: %q", got)
	}
	stop = w.start(t, w.pipeline(w.stores))
	testenv.Until(t, "the airdrops are listed again", func() bool { return slices.Equal(listed(), want) })
	stop()
}
