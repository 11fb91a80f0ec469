package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/klauspost/compress/zstd"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
)

// gate stands before an in-memory S3 and answers conditional reads as Amazon's
// S3 does, which the in-memory one does not: by 304 and no body.
type gate struct {
	s3      http.Handler
	plain   bool                          // pass conditional reads through unseen
	gets    atomic.Int64                  // reads that came in
	refused atomic.Bool                   // reads fail
	hold    atomic.Pointer[chan struct{}] // reads wait for its end
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		g.s3.ServeHTTP(w, r)
		return
	}
	g.gets.Add(1)
	if c := g.hold.Load(); c != nil {
		<-*c
	}
	if g.refused.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	answer := httptest.NewRecorder()
	g.s3.ServeHTTP(answer, r)
	etag := r.Header.Get("If-None-Match")
	if !g.plain && etag != "" && etag == answer.Header().Get("ETag") {
		w.Header().Set("ETag", etag)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}

func newViews(t *testing.T) (*store.Views, *gate, *s3.Client) {
	t.Helper()
	g := &gate{s3: storetest.S3Handler()}
	client := storetest.S3Client(t, g)
	must.Do(t, schema.CreateBucket(t.Context(), client, "views"))
	return store.NewViews(client, "views"), g, client
}

func publish(t *testing.T, v *store.Views, body string) {
	t.Helper()
	must.Do(t, v.Publish(t.Context(), "tickers", []byte(body)))
}

func TestAViewIsOneCompressedObject(t *testing.T) {
	t.Parallel()
	views, _, client := newViews(t)
	body := strings.Repeat(`{"coin":"BTC"}`, 1000)
	publish(t, views, body)
	out := must.Get(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("views"), Key: aws.String("views/tickers.json.zst")}))(t)
	defer out.Body.Close()
	packed := must.Get(io.ReadAll(out.Body))(t)
	reader := must.Get(zstd.NewReader(bytes.NewReader(packed)))(t)
	defer reader.Close()
	plain, err := io.ReadAll(reader)
	if err != nil || string(plain) != body {
		t.Errorf("object unpacks to %d bytes (error %v), want the body", len(plain), err)
	}
	if len(packed) > len(body)/10 {
		t.Errorf("object has %d bytes of %d", len(packed), len(body))
	}
	if got := aws.ToString(out.ContentType); got != "application/json" {
		t.Errorf("content type is %q", got)
	}
	if got := aws.ToString(out.ContentEncoding); got != "zstd" {
		t.Errorf("content encoding is %q", got)
	}
}

func TestFetchReadsAViewOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprint("S3 without If-None-Match ", plain), func(t *testing.T) {
			t.Parallel()
			views, g, _ := newViews(t)
			g.plain = plain
			if _, _, _, err := views.Fetch(t.Context(), "tickers", ""); !errors.Is(err, store.ErrNoView) {
				t.Errorf("error is %v, want ErrNoView", err)
			}
			etag := ""
			for _, step := range []struct {
				publish  string
				modified bool
			}{{"1", true}, {"", false}, {"1", false}, {"2", true}, {"", false}} {
				if step.publish != "" {
					publish(t, views, step.publish)
				}
				body, newETag, modified, err := views.Fetch(t.Context(), "tickers", etag)
				if err != nil || modified != step.modified {
					t.Fatalf("after %+v: modified %t, error %v", step, modified, err)
				}
				if modified && string(body) != step.publish || !modified && (body != nil || newETag != etag) || newETag == "" {
					t.Errorf("after %+v: body %q, ETag %s", step, body, newETag)
				}
				etag = newETag
			}
		})
	}
}

func TestFetchRefusesWhatIsNoCompressedView(t *testing.T) {
	t.Parallel()
	_, _, client := newViews(t)
	views := store.NewViewsOf(client, "views", 10_000)
	encoder := must.Get(zstd.NewWriter(nil))(t)
	good := encoder.EncodeAll([]byte(strings.Repeat(`{"coin":"BTC"}`, 100)), nil)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1 // in the checksum
	var unsized bytes.Buffer     // does not say how large it is
	stream := must.Get(zstd.NewWriter(&unsized, zstd.WithWindowSize(zstd.MinWindowSize)))(t)
	for range 100 {
		stream.Write(make([]byte, 1000))
	}
	stream.Close()
	for name, c := range map[string]struct {
		object []byte
		want   string
	}{
		"plain":              {[]byte(`{"coin":"BTC"}`), "not compressed with zstd"},
		"cut off":            {good[:len(good)-8], "corrupt"},
		"changed":            {flipped, "corrupt"},
		"too large":          {encoder.EncodeAll(make([]byte, 10_001), nil), "the view has more than 10000 bytes"},
		"too large, unsized": {unsized.Bytes(), "the view has more than 10000 bytes"},
		"a large object":     {make([]byte, 10_001), "the object has more than 10000 bytes"},
	} {
		must.Get(client.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String("views"), Key: aws.String("views/tickers.json.zst"), Body: bytes.NewReader(c.object),
		}))(t)
		if _, _, _, err := views.Fetch(t.Context(), "tickers", ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one that says %q", name, err, c.want)
		}
	}
	if err := views.Publish(t.Context(), "tickers", make([]byte, 10_001)); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "10001 bytes, more than 10000") {
		t.Errorf("a view that is too large was published, or may be tried again: %v", err)
	}
	if err := views.Publish(t.Context(), "tickers", make([]byte, 10_000)); err != nil {
		t.Error(err)
	}
	if body, _, _, err := views.Fetch(t.Context(), "tickers", ""); err != nil || len(body) != 10_000 {
		t.Errorf("%d bytes, error %v", len(body), err)
	}
}

func newView(t *testing.T, period time.Duration) (*store.View[string], *store.Views, *gate, *testclock.Clock) {
	views, g, _ := newViews(t)
	c := testclock.At(time.Unix(1700000000, 0))
	view := store.NewView(views, "tickers", period, c.Now, func(body []byte) (string, error) {
		if string(body) == "bad" {
			return "", errors.New("does not decode")
		}
		return "decoded " + string(body), nil
	})
	view.SetPatience(time.Hour)
	return view, views, g, c
}

func expect(t *testing.T, view *store.View[string], want string) {
	t.Helper()
	if got, err := view.Get(t.Context()); err != nil || got != "decoded "+want {
		t.Errorf("view is %q, error %v; want %q", got, err, want)
	}
}

func TestAViewIsReadAgainOnlyAfterItsPeriod(t *testing.T) {
	t.Parallel()
	view, views, g, c := newView(t, time.Second)
	publish(t, views, "1")
	expect(t, view, "1")
	publish(t, views, "2")
	c.Move(time.Second)
	expect(t, view, "1")
	if n := g.gets.Load(); n != 1 {
		t.Errorf("%d reads within the period, want 1", n)
	}
	c.Move(time.Nanosecond)
	expect(t, view, "2")
	c.Move(2 * time.Second)
	expect(t, view, "2") // confirmed by 304
	expect(t, view, "2")
	if n := g.gets.Load(); n != 3 {
		t.Errorf("%d reads, want 3", n)
	}
}

func TestAnOutdatedVersionIsServedForAWhileWhenS3Fails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ period, bound time.Duration }{
		{time.Second, 30 * time.Second},
		{5 * time.Second, 50 * time.Second},
	} {
		view, views, g, clock := newView(t, c.period)
		publish(t, views, "1")
		expect(t, view, "1")
		publish(t, views, "2")
		g.refused.Store(true)
		clock.Move(c.period + 1)
		expect(t, view, "1")
		expect(t, view, "1")
		if n := g.gets.Load(); n != 2 {
			t.Errorf("%d reads, want 2: S3 is asked again a period later", n)
		}
		clock.Move(c.bound - c.period - 1)
		expect(t, view, "1")
		clock.Move(1)
		if got, err := view.Get(t.Context()); err == nil || got != "" {
			t.Errorf("%v after its confirmation the view is still %q (error %v)", c.bound+1, got, err)
		}
		g.refused.Store(false)
		expect(t, view, "2")
	}
}

func TestAVersionThatDoesNotDecodeLeavesTheOneBefore(t *testing.T) {
	t.Parallel()
	view, views, _, c := newView(t, time.Second)
	publish(t, views, "1")
	expect(t, view, "1")
	publish(t, views, "bad")
	c.Move(2 * time.Second)
	expect(t, view, "1")
	publish(t, views, "3")
	c.Move(2 * time.Second)
	expect(t, view, "3")
}

func TestAViewThatIsNotThereIsAnErrorUntilItIsPublished(t *testing.T) {
	t.Parallel()
	view, views, g, c := newView(t, time.Second)
	for range 2 {
		if got, err := view.Get(t.Context()); !errors.Is(err, store.ErrNoView) || got != "" {
			t.Errorf("view is %q, error %v; want ErrNoView", got, err)
		}
	}
	g.refused.Store(true)
	if _, err := view.Get(t.Context()); !errors.Is(err, store.ErrNoView) {
		t.Errorf("error is %v, want ErrNoView from memory", err)
	}
	c.Move(time.Second)
	if _, err := view.Get(t.Context()); err == nil || errors.Is(err, store.ErrNoView) {
		t.Errorf("error is %v, want S3's failure", err)
	}
	g.refused.Store(false)
	publish(t, views, "1")
	c.Move(time.Second)
	expect(t, view, "1")
}

func TestOneRequestServesAllWhoWait(t *testing.T) {
	t.Parallel()
	view, views, g, _ := newView(t, time.Second)
	publish(t, views, "1")
	release := make(chan struct{})
	g.hold.Store(&release)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { expect(t, view, "1") })
	}
	testenv.Until(t, "one of them reads", func() bool { return g.gets.Load() > 0 })
	close(release)
	wg.Wait()
	if n := g.gets.Load(); n != 1 {
		t.Errorf("%d reads for 50 callers, want 1", n)
	}
}

func TestACallerWhoLeavesDoesNotEndTheRequestOfTheOthers(t *testing.T) {
	t.Parallel()
	view, views, g, _ := newView(t, time.Second)
	publish(t, views, "1")
	release := make(chan struct{})
	g.hold.Store(&release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := view.Get(ctx); !errors.Is(err, context.Canceled) || got != "" {
		t.Errorf("view is %q, error %v; want the context's", got, err)
	}
	close(release)
	expect(t, view, "1")
	if n := g.gets.Load(); n != 1 {
		t.Errorf("%d reads, want 1: the first request goes on", n)
	}
}

func TestASlowS3DelaysNobodyWhoCanBeServedAnOutdatedVersion(t *testing.T) {
	t.Parallel()
	view, views, g, c := newView(t, time.Second)
	view.SetPatience(time.Millisecond)
	publish(t, views, "1")
	expect(t, view, "1")
	publish(t, views, "2")
	release := make(chan struct{})
	g.hold.Store(&release)
	c.Move(2 * time.Second)
	expect(t, view, "1") // returns although S3 never answers
	expect(t, view, "1")
	close(release)
	g.hold.Store(nil)
	c.Move(time.Minute) // too old to be served again
	expect(t, view, "2")
}
