package publication_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/publication"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

func TestATableInABucketIsPublishedAndRead(t *testing.T) {
	t.Parallel()
	client, name := storetest.S3(t)
	newest := store.ViewType[tablefile.Manifest]{Name: "traders"}
	views := store.NewViews(client, name)
	bucket := &publication.Bucket{Bucket: tablefile.Bucket{Client: client, Name: name}, Objects: client, Views: views, Newest: newest, ListKey: "table/list/files"}
	now := time.UnixMilli(1_700_000_000_000)
	p := publication.Publisher{Columns: columns, Prefix: "table/files/", Store: bucket, Keep: time.Hour, Now: func() time.Time { return now }}
	hot, cold := map[table.Address]trader{address(1): {pnl: 5}}, map[table.Address]trader{address(2): {pnl: 7}, address(3): {pnl: -2, coins: []string{"BTC"}}}
	must.Get(p.Publish(t.Context(), publication.Change{Hot: partOf(hot), Left: partOf(cold), Cold: true}))(t)
	r := tablefile.NewReader(columns, bucket.Manifest, bucket, 1<<20)
	a := must.Get(r.Ask(t.Context(), &table.Query{Limit: 5}, []int{0}))(t)
	if len(a.Rows) != 3 || a.Rows[0].Address != address(2) || a.Rows[2].Values[0].Value != -2 {
		t.Errorf("it answers %+v", a)
	}
	key := "table/list/files"
	list := must.Get(io.ReadAll(must.Get(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &name, Key: &key}))(t).Body))(t)
	if want := "s3://" + name + "/table/files/1700000000000-cold.parquet\ns3://" + name + "/table/files/1700000000000-hot.parquet\n"; string(list) != want {
		t.Errorf("other engines are told of %q, want %q", list, want)
	}
	late, lost := *bucket, errors.New("lost")
	late.Views = views.Owned(func(context.Context) error { return lost })
	if err := late.List(t.Context(), []string{"table/files/of-long-ago"}); !errors.Is(err, lost) {
		t.Errorf("who publishes no longer writes the list, %v", err)
	}
	now = now.Add(5 * time.Hour) // by when the hot file of before is left, and then nobody reads it
	for range 2 {
		must.Get(p.Publish(t.Context(), publication.Change{Hot: partOf(hot)}))(t)
		now = now.Add(5 * time.Hour)
	}
	if keys := must.Get(bucket.Files(t.Context(), "table/files/"))(t); len(keys) != 3 { // cold, hot, and the hot one of before
		t.Errorf("the files are %v", keys)
	}
}
