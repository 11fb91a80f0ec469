package traders_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/objects"
	"quotary/shared/data/traderhistory"
	"quotary/shared/data/traders"
	"quotary/shared/testing/must"
)

// TestWithoutItsManifestsAllIsMadeAnew is what an operator does where files of the table are lost: removes what
// names them. The running ingester goes on by itself.
func TestWithoutItsManifestsAllIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := open(t)
	for n := range 3 {
		w.add(n == 0, w.ms-int64(n)*hourMs, w.ms-dayMs)
	}
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	prefix, lost := "tables/", 0
	for object, err := range objects.List(t.Context(), w.Objects, &s3.ListObjectsV2Input{Bucket: &w.Bucket, Prefix: &prefix}, time.Minute) {
		must.Do(t, err)
		must.Get(w.Objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &w.Bucket, Key: object.Key, Body: bytes.NewReader([]byte("torn"))}))(t)
		lost++
	}
	a := w.accounts[1]
	a.do(3, w.ms)
	w.store(a)
	w.ms += hourMs
	if err := work.Publish(t.Context()); err == nil || lost < 3 {
		t.Fatalf("with %d torn files the table is published", lost)
	}
	for _, name := range []string{traders.Name, traderhistory.Name} {
		key := "views/" + name + ".json.zst"
		must.Get(w.Objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &w.Bucket, Key: &key}))(t)
	}
	must.Do(t, work.Publish(t.Context()))
	w.compareWindows(rand.New(rand.NewPCG(5, 5)), 1) //nolint:gosec // the same each time
	rows := w.rows()
	for _, one := range w.accounts {
		w.has(rows[one.address], w.trader(one), isDone)
	}
}
