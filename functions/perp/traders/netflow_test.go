package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/market"
)

const flowPath = "/upgrade/v2/hl/ledger-updates/"

// flowed is a book with flows of alice at the edges of all windows, and of bob now.
func flowed(t testing.TB) *book {
	t.Helper()
	b := openBook(t)
	b.hold(t, &market.Account{Address: alice, Since: now - 200*dayMs}, &market.Account{Address: bob, Since: now - 2*dayMs})
	one := decimal(t, "1")
	s := b.of(alice)
	s.Began = now - 200*dayMs
	s.Flow(now-150*dayMs, decimal(t, "1000.25"), one)
	for _, days := range []int64{90, 60, 30, 7, 1} {
		s.Flow(now-days*dayMs, one, decimal(t, "0"))
		s.Flow(now-days*dayMs+1, one, one.Neg())
	}
	s.Flow(now, decimal(t, "-0.5"), decimal(t, "0.5"))
	s.Flow(now+1, one, one) // of a clock that is ahead
	b.of(bob).Began = now - 2*dayMs
	b.of(bob).Flow(now, decimal(t, "7.125"), decimal(t, "0"))
	b.write(t)
	return b
}

func (b *book) netFlow(t testing.TB, query string) apitest.Answer {
	t.Helper()
	return b.Get(t, b.SubKey, flowPath+"net-flow/"+query)
}

func (b *book) netFlows(t testing.TB, in body) []catalog.NetFlowRow {
	t.Helper()
	return apitest.Data[[]catalog.NetFlowRow](t, b.Call(t, b.SubKey, http.MethodPost, flowPath+"batch-net-flow", in))
}

func TestNetFlowIsOfTheLastDays(t *testing.T) {
	t.Parallel()
	b := flowed(t)
	b.netFlow(t, alice).Golden(t, "net-flow")
	for query, want := range map[string][2]string{
		"": {"4.5", "-2.5"}, "?days=1": {"0.5", "-0.5"}, "?days=7d": {"2.5", "-1.5"}, "?days=30&scope=perp": {"4.5", "-2.5"}, "?days=60": {"6.5", "-3.5"}, "?days=90": {"8.5", "-4.5"},
	} {
		answer := b.netFlow(t, alice+query)
		got := apitest.Data[catalog.NetFlows](t, answer)
		if got.NetPerpIn != want[0] || got.NetSpotIn != want[1] || answer.Header[catalog.HeaderDataSince] != "" {
			t.Errorf("%q: %s and %s since %q, want %v", query, got.NetPerpIn, got.NetSpotIn, answer.Header[catalog.HeaderDataSince], want)
		}
	}
	if none := apitest.Data[catalog.NetFlows](t, b.netFlow(t, carol)); none != (catalog.NetFlows{NetPerpIn: "0.0", NetSpotIn: "0.0"}) {
		t.Errorf("an account that has moved nothing: %v", none)
	}
	for _, days := range []string{"0", "2", "365", "x"} {
		b.netFlow(t, alice+"?days="+days).Refused(t, http.StatusBadRequest, "days", "1, 7, 30, 60, 90")
	}
	b.netFlow(t, alice+"?scope=all").Refused(t, http.StatusBadRequest, "scope", "perp")
	b.netFlow(t, "0xnope").Refused(t, http.StatusBadRequest, "address")
}

func TestNetFlowsOfManyAccounts(t *testing.T) {
	t.Parallel()
	b := flowed(t)
	unknown := fmt.Sprintf("0x%040x", 9)
	b.Call(t, b.SubKey, http.MethodPost, flowPath+"batch-net-flow", body{"addresses": []string{bob, unknown, alice, bob}}).Golden(t, "batch-net-flow")
	if wanted, err := b.wanted.List(t.Context(), b.Now()); err != nil || !slices.Equal(wanted.Things(), []string{unknown}) {
		t.Errorf("%v are wanted, %v", wanted.Things(), err)
	}
	sinceBob := time.UnixMilli(now - 2*dayMs).UTC().Format(time.RFC3339)
	for days, want := range map[any]catalog.NetFlowRow{
		1:    {Address: bob, NetPerpIn: new("7.125"), NetSpotIn: new("0.0")},
		"7d": {Address: bob, NetPerpIn: new("7.125"), NetSpotIn: new("0.0"), Since: &sinceBob},
	} {
		if diff := gocmp.Diff([]catalog.NetFlowRow{want}, b.netFlows(t, body{"addresses": "0x" + strings.ToUpper(bob[2:]), "days": days})); diff != "" {
			t.Errorf("%v days (-want +got):\n%s", days, diff)
		}
	}
	all := b.netFlows(t, body{"addresses": []string{alice}, "days": 0})[0]
	if *all.NetPerpIn != "1010.75" || *all.NetSpotIn != "-2.5" || *all.Since != time.UnixMilli(now-200*dayMs).UTC().Format(time.RFC3339) {
		t.Errorf("all time: %s, %s since %s", *all.NetPerpIn, *all.NetSpotIn, *all.Since)
	}
	many := make([]string, 2001)
	for i := range many {
		many[i] = fmt.Sprintf("0x%040x", i)
	}
	if rows := b.netFlows(t, body{"addresses": many}); len(rows) != 2000 || rows[1999].Address != many[1999] {
		t.Errorf("%d rows for 2,001 addresses, want 2,000", len(rows))
	}
	for _, in := range []body{{"addresses": []string{alice, "nope"}}, {"addresses": []string{}}, {}} {
		b.Call(t, b.SubKey, http.MethodPost, flowPath+"batch-net-flow", in).Refused(t, http.StatusBadRequest, "addresses")
	}
	b.Call(t, b.SubKey, http.MethodPost, flowPath+"batch-net-flow", body{"addresses": alice, "days": 14}).Refused(t, http.StatusBadRequest, "days", "0 (all time), 1, 7, 30, 60, 90")
}

// Where the window begins before the account is known, the answer says since when it is.
func TestNetFlowSaysSinceWhenItIsKnown(t *testing.T) {
	t.Parallel()
	b := flowed(t)
	b.of(alice).Began = now - 10*dayMs
	b.write(t)
	for query, since := range map[string]int64{alice + "?days=7": 0, alice: now - 10*dayMs, bob + "?days=1": 0, bob: now - 2*dayMs} {
		want := ""
		if since > 0 {
			want = time.UnixMilli(since).UTC().Format(time.RFC3339)
		}
		if got := b.netFlow(t, query).Header[catalog.HeaderDataSince]; got != want {
			t.Errorf("%s: X-Data-Since is %q, want %q", query, got, want)
		}
		if !strings.Contains(query, "?") {
			if got := b.netFlows(t, body{"addresses": query})[0].Since; got == nil || *got != want {
				t.Errorf("%s among many: since %v, want %q", query, got, want)
			}
		}
	}
}

func TestTheNetFlowOfAnUnknownAccountIsAskedFor(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	unknown := fmt.Sprintf("0x%040x", 1)
	b.netFlow(t, unknown).Refused(t, http.StatusServiceUnavailable, "for the first time")
	if wanted, err := b.wanted.List(t.Context(), b.Now()); err != nil || !slices.Equal(wanted.Things(), []string{unknown}) {
		t.Errorf("%v are wanted, %v", wanted.Things(), err)
	}
}
