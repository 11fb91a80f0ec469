package accounts

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

func TestABaseIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	const address = "0xa11ce00000000000000000000000000000000001"
	want := Base{At: 1_773_532_800_000, State: &market.Account{Address: address, Since: 1, Time: 1_773_532_799_000}, Stats: []byte{1, 2, 3}}
	older := BaseRow(1, &want) // of before there were facts
	if got := must.Get(DecodeBase(address, older.Point))(t); got.Facts != nil || !bytes.Equal(got.Stats, want.Stats) {
		t.Errorf("without facts it has %v and %v", got.Stats, got.Facts)
	}
	want.Facts = []byte{4, 5}
	row := BaseRow(1, &want)
	if at := BaseAt(address, 1); row.SeriesKey != at.SeriesKey || !row.Time.Equal(time.UnixMilli(1)) || row.SeriesKey == At(address).SeriesKey {
		t.Errorf("it is at %v %v", row.SeriesKey, row.Time)
	}
	got := must.Get(DecodeBase(address, row.Point))(t)
	if diff := cmp.Diff(&want, got, cmp.Comparer(market.Decimal.Equal)); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for _, extra := range [][]byte{nil, {5}, {200}, row.Extra[1:], row.Extra[:len(row.Extra)-3]} {
		if _, err := DecodeBase(address, store.Point{Body: row.Body, Extra: extra}); err == nil {
			t.Errorf("%v is read", extra)
		}
	}
	bases := Bases{7, 9}
	if got, err := BasesOf(RowOf(want.State, nil, bases).Point); err != nil || got != bases {
		t.Errorf("the bases are %v, %v", got, err)
	}
}
