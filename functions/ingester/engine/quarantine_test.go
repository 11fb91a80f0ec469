package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// kept notes what is put among the quarantined rows.
type kept struct {
	QuarantineObjects
	mu   sync.Mutex
	rows map[string]QuarantinedRow // by object
}

func (k *kept) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	var row QuarantinedRow
	if err := json.Unmarshal(body, &row); err != nil {
		return nil, err
	}
	in.Body = strings.NewReader(string(body))
	out, err := k.QuarantineObjects.PutObject(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		k.rows = map[string]QuarantinedRow{}
	}
	k.rows[*in.Key] = row
	return out, nil
}

// ListObjectsV2 gives the objects the time of their rows, which is that of the test.
func (k *kept) ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input, options ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	out, err := k.QuarantineObjects.ListObjectsV2(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range out.Contents {
		at := k.rows[*out.Contents[i].Key].Time
		out.Contents[i].LastModified = &at
	}
	return out, nil
}

// TestARowThatIsInvalidIsQuarantinedAndTheRestGoesOn: it is too large, in the log
// and in the series.
func TestARowThatIsInvalidIsQuarantinedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	large := "zebra" + strings.Repeat("-", 900) // as a key it may be, but not so often in a row
	list := []string{"ant", "bee"}
	for i := range 500 {
		list = append(list, fmt.Sprint(large, i))
	}
	long := "yak" + strings.Repeat("-", 2000)
	list = append(list, long, "ape")
	p := newPipeline(stores, say("source", list...))
	stop := run(t, p)
	testenv.Until(t, "the last word is taken", func() bool { return p.Stats.Events.Load() == int64(len(list)) })
	must.Do(t, stop())
	if got := stored(t, stores, "vocabulary", "a") + stored(t, stores, "vocabulary", "b"); got != "ant,apebee" {
		t.Errorf("stored are %s", got)
	}
	reasons := map[string]string{}
	for key, row := range quarantine.rows {
		if !strings.HasPrefix(key, "quarantine/small/"+row.Time.UTC().Format(time.DateOnly)+"/"+row.Dataset+"-") || !strings.HasSuffix(key, ".json") || row.Body == "" {
			t.Errorf("%s holds %+v", key, row)
		}
		reasons[row.Dataset] = row.Reason
	}
	if n := p.Stats.Quarantined.Load(); n != 2 || len(reasons) != 2 || !strings.HasPrefix(reasons["vocabulary"], "the row has ") || !strings.HasPrefix(reasons["word"], `the key "sk" has `) {
		t.Errorf("%d rows were quarantined: %v", n, reasons)
	}
	body, err := stores.Series.Checkpoint(t.Context(), Checkpoint("small", "source", ""))
	if err != nil || string(body) != fmt.Sprint(len(list)) {
		t.Errorf("the checkpoint is %s (%v)", body, err)
	}
}

// TestTooManyInvalidRowsStopThePipeline until the hour has passed.
func TestTooManyInvalidRowsStopThePipeline(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range quarantineMost + 20 {
		list = append(list, fmt.Sprint(i, strings.Repeat("-", 2000)))
	}
	stores := newStores(t)
	p := newPipeline(stores, say("source", append(list, "ant")...))
	var hours atomic.Int64
	p.Now = func() time.Time { return wordTime.Add(time.Duration(hours.Load()) * time.Hour) }
	stop := run(t, p)
	testenv.Until(t, "it stops", func() bool {
		return p.Stats.Quarantined.Load() == quarantineMost && len(p.trouble.before(p.Now())) > 0
	})
	if n := p.Stats.Events.Load(); n > quarantineMost {
		t.Errorf("it went on to %d words", n)
	}
	hours.Add(1)
	testenv.Until(t, "it goes on", func() bool { return p.Stats.Events.Load() == int64(len(list)+1) })
	must.Do(t, stop())
	if n := p.Stats.Quarantined.Load(); n != int64(len(list)) {
		t.Errorf("%d rows are quarantined, want %d", n, len(list))
	}
	if got := stored(t, stores, "vocabulary", "a"); got != "ant" {
		t.Errorf("stored is %q", got)
	}
}

// TestARestartLetsNoMoreInvalidRowsThrough: the rows of the hour are counted from
// what is kept, also where midnight was in it.
func TestARestartLetsNoMoreInvalidRowsThrough(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range quarantineMost + 20 {
		list = append(list, fmt.Sprint(i, strings.Repeat("-", 2000)))
	}
	stores := newStores(t)
	stores.Quarantine.Objects = &kept{QuarantineObjects: stores.Quarantine.Objects}
	midnight := wordTime.Truncate(24 * time.Hour).Add(24 * time.Hour)
	for _, life := range []struct {
		begins time.Time
		most   int64 // rows that may be quarantined in it
	}{{midnight.Add(-20 * time.Minute), quarantineMost}, {midnight.Add(20 * time.Minute), 0}, {midnight.Add(41 * time.Minute), quarantineMost}} {
		p := newPipeline(stores, say("source", list...))
		p.Now = func() time.Time { return life.begins }
		stop := run(t, p)
		p.StopWithin = time.Nanosecond
		testenv.Until(t, "it stops", func() bool { return len(p.trouble.before(p.Now())) > 0 })
		_ = stop() // it is stopped while it waits
		if n := p.Stats.Quarantined.Load(); n != life.most {
			t.Errorf("from %s on %d rows were quarantined, want %d", life.begins, n, life.most)
		}
	}
}

// TestRowsThatCannotBeScannedDoNotStopLiveOnes: there are more of them than are
// quarantined in an hour.
func TestRowsThatCannotBeScannedDoNotStopLiveOnes(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	rows := make([]store.Row, quarantineMost+20)
	for i := range rows {
		rows[i] = store.Row{Subject: "all", Time: wordTime, ID: fmt.Sprint(i), Body: []byte("no word")}
	}
	must.Do(t, stores.Log.Put(t.Context(), wordLog.Dataset, rows))
	must.Do(t, stores.Series.SaveCheckpoint(t.Context(), Checkpoint("small", "source", ""), []byte("0")))
	p := newPipeline(stores, say("source", "ant", strings.Repeat("bee", 1000), "ape"))
	stop := run(t, p)
	testenv.Until(t, "catching up waits", func() bool { return len(p.trouble.before(time.Now())) > 0 })
	testenv.Until(t, "live words are stored", func() bool { return stored(t, stores, "vocabulary", "a") == "ant,ape" })
	must.Do(t, stop())
	scanned := 0
	for key := range quarantine.rows {
		if strings.HasPrefix(key, "quarantine/small/"+scannedFolder) {
			scanned++
		}
	}
	if scanned != quarantineMost || len(quarantine.rows) != quarantineMost+1 {
		t.Errorf("%d rows are quarantined, %d of them scanned", len(quarantine.rows), scanned)
	}
}

// TestARowThatIsScannedEachDayIsQuarantinedOnce, and takes no place of others in any
// hour, whatever is restarted.
func TestARowThatIsScannedEachDayIsQuarantinedOnce(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	for day := range 3 {
		for _, hour := range []int{0, 5} {
			p := newPipeline(stores)
			p.Now = func() time.Time { return wordTime.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour) }
			must.Do(t, p.recallQuarantined(t.Context()))
			for i := range quarantineMost {
				row := quarantinedLogRow("word", &store.Row{Subject: "s", Time: wordTime, ID: fmt.Sprint(i), Body: []byte("{")})
				must.Do(t, p.quarantineScanned(t.Context(), row, "the archive", errors.New("no word")))
			}
			want := 0
			if day == 0 && hour == 0 {
				want = quarantineMost
			}
			if n := p.Stats.Quarantined.Load(); int(n) != want || len(p.scanned.rows) != want {
				t.Errorf("on day %d at %d %d rows are quarantined, %d count; want %d", day, hour, n, len(p.scanned.rows), want)
			}
		}
	}
	if len(quarantine.rows) != quarantineMost {
		t.Errorf("%d objects", len(quarantine.rows))
	}
	p := newPipeline(stores)
	p.Now = func() time.Time { return wordTime.Add(30 * time.Minute) }
	if err := p.recallQuarantined(t.Context()); err != nil || len(p.scanned.rows) != quarantineMost {
		t.Errorf("after a restart %d rows of the hour count, error %v", len(p.scanned.rows), err)
	}
}

// TestAQuarantinedRowIsKeptUnchanged, whatever its bytes are.
func TestAQuarantinedRowIsKeptUnchanged(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(5)
	for _, c := range []struct {
		row  QuarantinedRow
		want string
	}{
		{quarantinedLogRow("fill", &store.Row{Subject: "0x1", Time: at, ID: "7#8", Seq: 9, Index: [4]string{"a b", "", "\xff"}, Body: []byte(`{"px":"1"}`)}),
			`{"dataset":"fill","key":"0x1 5 7#8","reason":"","time":"0001-01-01T00:00:00Z","index":["\"a b\"","","\"\\xff\"",""],"seq":9,"body":"{\"px\":\"1\"}"}`},
		{quarantinedLogRow("fill", &store.Row{Subject: "\xfe", Time: at, Body: []byte{0xff, 0}}),
			`{"dataset":"fill","key":"\"\\xfe\" 5 ","reason":"","time":"0001-01-01T00:00:00Z","bodyBase64":"/wA="}`},
		{quarantinedSeriesRow(store.SeriesKey{Name: "klines", Key: "BTC", Interval: "1s"}, &store.Point{Time: at, Body: []byte("[]"), Extra: []byte{1, 2}}),
			`{"dataset":"klines","key":"BTC 1s 5","reason":"","time":"0001-01-01T00:00:00Z","body":"[]","extra":"AQI="}`},
	} {
		if got := string(encode(c.row)); got != c.want {
			t.Errorf("kept is\n%s, want\n%s", got, c.want)
		}
	}
}

// blocked answers a put only when it is to, and then refuses it.
type blocked struct {
	QuarantineObjects
	put, end chan struct{}
}

func (b *blocked) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if strings.Contains(*in.Key, "/slow-") {
		b.put <- struct{}{}
		<-b.end
		return nil, errors.New("no answer")
	}
	return b.QuarantineObjects.PutObject(ctx, in, options...)
}

// TestASlowQuarantineHoldsUpNobodyElse, and a row that could not be kept does not
// count.
func TestASlowQuarantineHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	slow := &blocked{stores.Quarantine.Objects, make(chan struct{}), make(chan struct{})}
	stores.Quarantine.Objects = slow
	p := newPipeline(stores)
	p.Now = time.Now
	ended := make(chan error, 1)
	go func() {
		ended <- p.quarantine(t.Context(), &p.quarantined, "", QuarantinedRow{Dataset: "slow", Key: "1"})
	}()
	<-slow.put
	if err := p.quarantine(t.Context(), &p.quarantined, "", QuarantinedRow{Dataset: "quick", Key: "2"}); err != nil {
		t.Error(err)
	}
	close(slow.end)
	if err := <-ended; err == nil {
		t.Error("a row that was not kept counts as kept")
	}
	if n := p.Stats.Quarantined.Load(); n != 1 || len(p.quarantined.rows) != 1 {
		t.Errorf("%d rows are counted, %d within the hour", n, len(p.quarantined.rows))
	}
}
