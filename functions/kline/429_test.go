package main

import (
	"fmt"
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
)

func TestMorePairsThanADistributorMayWantAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reader.lookup.Patience = 0
	var many []string
	for i := range followrequests.Pairs.Most {
		many = append(many, fmt.Sprintf("coin%dusdt:binance", i))
	}
	datatest.Want(t, w.wanted, w.Primary.AccessKey, many, w.Now, w.Move)
	w.Get(t, w.SubKey, path+"?symbol=ethusdt:binance&period=60").Refused(t, http.StatusTooManyRequests, "ethusdt:binance", "20")
	if rows := apitest.Data[catalog.CommonKlineList](t, w.Get(t, w.SubKey, path+"?symbol=btcusdt:binance&period=60")).KlineData; len(rows) == 0 {
		t.Error("one that is followed has no K-lines")
	}
}
