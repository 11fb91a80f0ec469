package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/archive"
	"quotary/shared/data/fills"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestAnUnknownRetentionIsRefused(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"fills=90":    `QUOTARY_RETENTION: "fills=90" is no retention: it takes a list such as fills=90d,orders=30d`,
		"tickers=90d": "QUOTARY_RETENTION: tickers is no dataset with a retention: it takes filledorders, fills, ledgers, orders, payments",
	} {
		w := newWorld(t)
		w.env = append(w.env, "QUOTARY_RETENTION="+setting)
		out, err := w.command("run").CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestAKilledIngesterArchivesEachRowOnce kills the program while it archives some days
// of fills, and starts it again.
func TestAKilledIngesterArchivesEachRowOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	for b := range 400 {
		text.WriteString(block(b, time.Now().Add(-time.Duration(48+b/4)*time.Hour).UnixMilli()))
	}
	list := fillsOf(t, text.String())
	storetest.PutLog(t, w.stores.Log, fills.Name, fills.AppendRows, list...)
	w.env = append(w.env, "QUOTARY_RETENTION=fills=30d")
	files := archive.Files{Objects: w.objects(), Bucket: "views"}
	stored := func() (all, marked int) {
		for cursor, first := "", true; first || cursor != ""; first = false {
			page := must.Get(w.stores.Log.Scan(t.Context(), []string{fills.Name}, cursor, 0))(t)
			for _, r := range page.Rows[fills.Name] {
				if all++; !r.Expires.IsZero() {
					marked++
				}
			}
			cursor = page.Next
		}
		return all, marked
	}
	for kill := range testenv.Amount(3, 20) {
		p := w.run()
		testenv.Until(t, "some rows are archived", func() bool { _, marked := stored(); return marked > kill*100 })
		_ = p.end(syscall.SIGKILL) // which is how it ends
	}
	p := w.run()
	testenv.Until(t, "all rows are archived", func() bool { all, marked := stored(); return all == len(list) && marked == all })
	must.Do(t, p.end(syscall.SIGTERM))
	keys := must.Get(files.List(t.Context(), archive.Folder(fills.Name)))(t)
	times := map[string]int{}
	for _, key := range keys {
		for r := range must.All(t, files.Rows(t.Context(), key)) {
			times[fmt.Sprint(r.Subject, r.Time, r.ID)]++
		}
	}
	for _, r := range fills.AppendRows(nil, list) {
		if n := times[fmt.Sprint(r.Subject, r.Time, r.ID)]; n != 1 {
			t.Errorf("the fill %s of %s is in %d files", r.ID, r.Subject, n)
		}
	}
	if len(times) != len(list) {
		t.Errorf("%d rows are archived, of %d", len(times), len(list))
	}
}

// objects is a client of the world's bucket.
func (w *world) objects() *s3.Client { return storetest.S3Client(w.t, w.bucket) }
