package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/arrivals"
	"quotary/shared/data/fills"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// arrive stores fills that arrived one after the other, a second apart, whenever they happened.
func (w *world) arrive(t *testing.T, list ...market.Fill) (places []market.Arrival) {
	t.Helper()
	late := arrivals.Late{Series: w.series}
	at := time.UnixMilli(first + 3_600_000)
	for i := range list {
		at = at.Add(time.Second)
		place := market.ArrivalAt(at)
		if at.Sub(time.UnixMilli(list[i].Time)) > market.LateAfter {
			place++
		}
		list[i].Arrived.At = place
		must.Do(t, late.Add(t.Context(), fills.Name, place, list[i].Time))
		places = append(places, place)
	}
	w.put(t, list...)
	must.Do(t, arrivals.SaveStored(t.Context(), w.series, market.ArrivalAt(at.Add(time.Minute))))
	return places
}

func TestAGapIsFilledBehindTheCursorOfAFrame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(10) {
		f := one(n)
		f.Time = first + 3_600_000 + n*1000
		if n%3 == 1 { // it arrives late by an hour
			f.Time -= 3_600_000
		}
		list = append(list, f)
	}
	places := w.arrive(t, list...)
	for _, of := range []string{"fills", "userFills " + alice, ""} {
		c := market.CursorAt(of, places[2])
		cursor, got := c.Text(), []int64{}
		for range 5 {
			answer := w.Get(t, w.SubKey, fmt.Sprintf("%s/%s?limit=3&cursor=%s", root, alice, cursor))
			page := apitest.Data[[]catalog.Fill](t, answer)
			for _, f := range page {
				got = append(got, f.Tid)
			}
			if cursor = answer.Header[catalog.HeaderNextCursor]; cursor == "" {
				t.Fatal("a page has no cursor to go on with")
			}
			if len(page) == 0 {
				break
			}
		}
		if want := []int64{103, 104, 105, 106, 107, 108, 109}; !slices.Equal(got, want) {
			t.Errorf("behind the third of %q arrived %v, want %v", of, got, want)
		}
		next := must.Get(market.ParseArrivalCursor(cursor))(t)
		if next.Fresh != places[9] || !next.Is(of) || next.Is("filled-orders") != (of == "") {
			t.Errorf("the last page of %q goes on at %d, want %d", of, next.Fresh, places[9])
		}
	}
}

func TestWhatIsNotStoredForSureIsNotShownYet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := one(0)
	f.Time = first + 3_600_000
	places := w.arrive(t, f)
	must.Do(t, arrivals.SaveStored(t.Context(), w.series, places[0]-1))
	c := market.CursorAt("", market.ArrivalAt(time.UnixMilli(first)))
	if got := w.tids(t, "/"+alice+"?cursor="+c.Text()); len(got) != 0 {
		t.Errorf("shown are %v, of which an earlier one may be missing", got)
	}
}

func TestACursorOfSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, of := range []string{"userFills " + bob, "trades BTC", "filled-orders"} {
		c := market.CursorAt(of, market.ArrivalAt(time.UnixMilli(first)))
		w.Get(t, w.SubKey, root+"/"+alice+"?cursor="+c.Text()).Refused(t, http.StatusBadRequest, "cursor")
	}
	c := market.CursorAt("", market.ArrivalAt(time.UnixMilli(first)))
	for _, page := range []string{
		channel.Page(channel.PageFills, bob, ""), channel.Page(channel.PageFills, alice, "BTC"), channel.Page(channel.PageOrders, alice, ""),
	} {
		other := c.OfPage(page)
		w.Get(t, w.SubKey, root+"/"+alice+"?cursor="+other.Text()).Refused(t, http.StatusBadRequest, "cursor")
	}
	same := c.OfPage(channel.Page(channel.PageFills, alice, "BTC"))
	apitest.Data[[]catalog.Fill](t, w.Get(t, w.SubKey, root+"/"+alice+"?coin=BTC&cursor="+same.Text()))
	w.Get(t, w.SubKey, root+"/"+alice+"?coin=ETH&cursor="+same.Text()).Refused(t, http.StatusBadRequest, "cursor")
	broken := c.Text()
	w.Get(t, w.SubKey, root+"/"+alice+"?cursor="+broken[:len(broken)-1]).Refused(t, http.StatusBadRequest, "cursor")
}
