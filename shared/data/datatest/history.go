package datatest

import (
	"bytes"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/data/traderhistory"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
)

// PublishHistory publishes a history of two hours up to a version, ms: in the first each trader did what
// the table says of the day, in the second what it says of the week. At the beginning of the day and
// seven days before they were worth what the ends of the week say.
func PublishHistory(t testing.TB, client *s3.Client, bucket string, version int64, list []traders.Trader) {
	t.Helper()
	m := traderhistory.Manifest{Version: version}
	put := func(from, hours int64, columns []tablefile.Column, part *tablefile.Part) {
		part.Version = version
		body := must.Get(tablefile.Bytes(columns, part))(t)
		u := traderhistory.Unit{From: from, Hours: hours, Version: version, Bytes: int64(len(body))}
		key := u.Named().Key
		must.Get(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body)}))(t)
		m.Put(u)
	}
	hour, today := market.Hour1.StartMs(version), market.Day1.StartMs(version)
	for i, p := range []traderfields.Period{traderfields.Day, traderfields.Week} {
		var did []traderhistory.Did
		for k := range list {
			if w := list[k].Did[p]; w != nil {
				did = append(did, traderhistory.Did{Address: list[k].Address, Facts: &w.Did})
			}
		}
		put(hour-int64(2-i)*time.Hour.Milliseconds(), traderhistory.Hour, traderhistory.Columns(), traderhistory.Part(did))
	}
	for _, ms := range []int64{today - 7*24*time.Hour.Milliseconds(), today} {
		var worth []traderhistory.Worth
		for k := range list {
			w := traderhistory.Worth{Address: list[k].Address}
			for _, part := range []struct {
				to   **market.AccountValue
				ends *traderfields.Ends
			}{{&w.Perp, list[k].Worth[traderfields.Week].Perp}, {&w.Spot, list[k].Worth[traderfields.Week].Spot}, {&w.Total, list[k].Worth[traderfields.Week].Total}} {
				switch {
				case part.ends == nil:
				case ms == today:
					*part.to = &part.ends.Last
				default:
					*part.to = &part.ends.First
				}
			}
			worth = append(worth, w)
		}
		put(ms, traderhistory.Moment, traderhistory.WorthColumns(), traderhistory.WorthPart(worth))
	}
	storetest.Publish(t, store.NewViews(client, bucket), traderhistory.Newest, m)
}
