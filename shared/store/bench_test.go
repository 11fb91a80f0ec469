package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// The benchmarks use an engine on disk, as the local stack does.
func onDisk(b *testing.B) (*dynamodb.Client, string) {
	b.Helper()
	db := storetest.Client(b, storetest.OnDisk(b))
	return db, storetest.Tables(b, db)
}

// fills returns n rows of the size and spread of fills: 450 bytes, 300
// addresses, 40 in a millisecond, three indexes.
func fills(n, first int) []store.Row {
	rows := make([]store.Row, n)
	for i := range rows {
		k := first + i
		address := fmt.Sprintf("0x%040d", k%300)
		rows[i] = store.Row{
			Subject: address,
			Time:    at(1700000000000 + int64(k/40)),
			ID:      fmt.Sprintf("%d#%d", 10_000_000+k/2, 90_000_000+k),
			Seq:     int64(k),
			Index:   [4]string{address + "/BTC", fmt.Sprint(90_000_000 + k), "", "0xbuilder"},
			Body:    fmt.Appendf(nil, `{"pad":%q}`, strings.Repeat("x", 440)),
		}
	}
	return rows
}

func BenchmarkLogPut(b *testing.B) {
	db, prefix := onDisk(b)
	log := store.NewLog(db, prefix+schema.LogTable)
	const batch = 1000
	n := 0
	for b.Loop() {
		must.Do(b, log.Put(b.Context(), "fill", fills(batch, n)))
		n += batch
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkSeriesPut(b *testing.B) {
	db, prefix := onDisk(b)
	series := store.NewSeries(db, prefix+schema.SeriesTable)
	const batch = 1000
	n := 0
	for b.Loop() {
		rows := make([]store.SeriesRow, batch)
		for i := range rows {
			k := store.SeriesKey{Name: "klines", Key: fmt.Sprint("coin", i%200), Interval: "1s"}
			rows[i] = seriesRow(k, int64(n+i)*1000)
			rows[i].Body = fmt.Appendf(nil, `{"pad":%q}`, strings.Repeat("x", 160))
		}
		must.Do(b, series.Put(b.Context(), rows))
		n += batch
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkLogRows100(b *testing.B) {
	db, prefix := onDisk(b)
	log := store.NewLog(db, prefix+schema.LogTable)
	must.Do(b, log.Put(b.Context(), "fill", fills(30_000, 0)))
	for b.Loop() {
		q := store.Query{Dataset: "fill", Subject: fmt.Sprintf("0x%040d", 7), Newest: true, PageSize: 100}
		n := 0
		for range must.All(b, log.Rows(b.Context(), q)) {
			if n++; n == 99 {
				break
			}
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	db, prefix := onDisk(b)
	table := aws.String(prefix + schema.UsageTable)
	key := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "p"},
		"sk": &types.AttributeValueMemberS{Value: "s"},
	}
	for _, c := range []struct {
		name    string
		request func(context.Context) error
	}{
		{"PutItem", func(ctx context.Context) error {
			_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: key})
			return err
		}},
		{"GetItem", func(ctx context.Context) error {
			_, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key, ConsistentRead: aws.Bool(true)})
			return err
		}},
		{"UpdateItem", func(ctx context.Context) error {
			_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: table, Key: key,
				UpdateExpression:          aws.String("ADD used :one"),
				ConditionExpression:       aws.String("attribute_not_exists(used) OR used < :cap"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}, ":cap": &types.AttributeValueMemberN{Value: "1000000000"}},
			})
			return err
		}},
		{"Query", func(ctx context.Context) error {
			_, err := db.Query(ctx, &dynamodb.QueryInput{
				TableName: table, KeyConditionExpression: aws.String("pk = :p"), Limit: aws.Int32(1),
				ExpressionAttributeValues: map[string]types.AttributeValue{":p": key["pk"]},
			})
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				must.Do(b, c.request(b.Context()))
			}
		})
	}
}

func BenchmarkViewGet(b *testing.B) {
	client, bucket := storetest.S3(b)
	views := store.NewViews(client, bucket)
	must.Do(b, views.Publish(b.Context(), "tickers", []byte(`{}`)))
	view := store.NewView(views, "tickers", time.Hour, time.Now, func([]byte) (int, error) { return 1, nil })
	for b.Loop() {
		must.Get(view.Get(b.Context()))(b)
	}
}

// A view of 1 MB is what all tickers of a venue make.
func BenchmarkView1MB(b *testing.B) {
	var body []byte
	for i := 0; len(body) < 1<<20; i++ {
		body = fmt.Appendf(body, `{"coin":"COIN%d","markPx":"%d.%04d","dayNtlVlm":"%d.%02d","openInterest":"%d","funding":"0.%08d"},`,
			i, i*7919%90_000, i*104_729%10_000, i*15_485_863%1_000_000_000, i%100, i*32_452_843%10_000_000, i*49_979_687%100_000)
	}
	client, bucket := storetest.S3(b)
	views := store.NewViews(client, bucket)
	b.Run("Publish", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			must.Do(b, views.Publish(b.Context(), "tickers", body))
		}
	})
	packed := views.Pack(body)
	b.Run("pack", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			packed = views.Pack(body)
		}
		b.ReportMetric(float64(len(packed)), "bytes-packed")
	})
	b.Run("unpack", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			must.Get(views.Unpack(packed))(b)
		}
	})
}
