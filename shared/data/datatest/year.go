package datatest

import (
	"bytes"
	"testing"

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

// PublishYear publishes a history of a year up to a version, ms: of each week all traders did what the
// table says of the week, and of the days and hours at its ends too, which a window of full hours
// needs. It returns how many files the longest window is made of.
func PublishYear(t testing.TB, client *s3.Client, bucket string, version int64, list []traders.Trader) (files int) {
	t.Helper()
	const hourMs = 3_600_000
	var did []traderhistory.Did
	for k := range list {
		if w := list[k].Did[traderfields.Week]; w != nil {
			did = append(did, traderhistory.Did{Address: list[k].Address, Facts: &w.Did})
		}
	}
	body := must.Get(tablefile.Bytes(traderhistory.Columns(), traderhistory.Part(did)))(t)
	m := traderhistory.Manifest{Version: version}
	put := func(from, hours int64) {
		u := traderhistory.Unit{From: from, Hours: hours, Version: version, Bytes: int64(len(body))}
		key := u.Named().Key
		must.Get(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body)}))(t)
		m.Put(u)
	}
	end := market.Hour1.StartMs(version)
	begin := end - 365*traderhistory.Day*hourMs
	for _, width := range [...]struct{ hours, within int64 }{{traderhistory.Hour, traderhistory.Day}, {traderhistory.Day, traderhistory.Week}, {traderhistory.Week, 0}} {
		from := traderhistory.StartOf(begin, width.hours)
		for ; from+width.hours*hourMs <= end+hourMs; from += width.hours * hourMs {
			// Those of the longer time that an end of the year is in are needed, no others.
			if width.within > 0 && from >= traderhistory.StartOf(begin, width.within)+width.within*hourMs && from < traderhistory.StartOf(end, width.within) {
				continue
			}
			put(from, width.hours)
		}
	}
	storetest.Publish(t, store.NewViews(client, bucket), traderhistory.Newest, m)
	return len(m.Cover(begin, end+hourMs))
}
