package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"quotary/shared/api"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

// needsNothing are the endpoints that answer without any dataset: those of management, and
// what a key is told of itself.
func needsNothing(e *catalog.Endpoint) bool {
	return e.Access.Kind == catalog.Public || e.Access.Kind == catalog.Management || e == catalog.KeyPlanNow.Endpoint
}

// An empty answer means that a source has spoken and there is nothing: where none ever has,
// every endpoint that is built is 503, says when to ask again and what is not there, reaches
// no handler and costs nothing. The exceptions are written down here.
func TestNoEndpointAnswersFromWhatWasNeverDelivered(t *testing.T) {
	t.Parallel()
	everyFunction(t, func(t *testing.T, w *echo, endpoints []*catalog.Endpoint) {
		for _, state := range []struct {
			name             string
			set              func()
			says, retryAfter string
		}{
			{"no source is configured", func() { w.Deliver(t) }, "are not configured in this deployment: they take", "60"},
			{"no ingester has begun", func() { w.Family.Delivered = delivered.Open(w.Views(t), w.Now) }, "have not arrived yet: no ingester has begun on them; try again later", "5"},
			{"all was delivered", func() { w.Deliver(t, catalog.Datasets()...) }, "", ""},
		} {
			state.set()
			for _, e := range endpoints {
				if e.Planned {
					continue
				}
				a := w.invoke(t, apitest.Example(e))
				reached := w.take() != nil
				keyCheck := e == catalog.CoinTickers.Endpoint && state.retryAfter == "60" // clients check a key by it
				if state.says == "" || needsNothing(e) || keyCheck {
					if a.Status != http.StatusOK || !reached {
						t.Errorf("%s, %s: %d %s", e, state.name, a.Status, a.Body)
					}
					continue
				}
				a.Refused(t, http.StatusServiceUnavailable, state.says)
				if reached || a.Header["Retry-After"] != state.retryAfter {
					t.Errorf("%s, %s: its handler was reached: %v, Retry-After %q", e, state.name, reached, a.Header["Retry-After"])
				}
			}
		}
	})
}

// The types of info are each answered from a dataset of their own.
func TestATypeOfInfoNeedsItsOwnDataset(t *testing.T) {
	t.Parallel()
	w := info(t)
	w.Deliver(t, catalog.VenueMids)
	for kind, status := range map[string]int{"allMids": 200, "meta": 503, "l2Book": 503, "userFills": 503, "fundingHistory": 503, "nonsense": 200 /* which the handler refuses */} {
		a := w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/info", map[string]any{"type": kind})
		if a.Status != status {
			t.Errorf("%s: %d %s, want %d", kind, a.Status, a.Body, status)
		}
	}
}

// Of a pair the platform decides what is needed.
func TestAPairNeedsWhatItsPlatformHas(t *testing.T) {
	t.Parallel()
	venue, part := catalog.VenueTrades.On(""), func(platform string) catalog.Need { return catalog.ExchangeTickers.On(platform) }
	for keys, want := range map[string][]catalog.Need{
		"btcusdt:binance":                         {part("binance")},
		"BTCUSDT:OKEX":                            {part("okex")},
		"btcswapusdc:hyperliquid":                 {venue},
		"btcusdt:binance,btcswapusdc:hyperliquid": {part("binance"), venue},
		"nonsense":                                {part("")},
	} {
		var in catalog.PairTickersIn
		for key := range strings.SplitSeq(keys, ",") {
			in.KeyList = append(in.KeyList, catalog.Key(key))
		}
		got := catalog.PairTickers.NeedsOf(&in)
		if len(got) != len(want) {
			t.Fatalf("%s: %v", keys, got)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %s, want %s", keys, got[i].Key(), want[i].Key())
			}
		}
	}
}

// A handler whose view was never published knows nothing.
func TestAViewThatWasNeverPublishedIs503(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, string(catalog.PerpMarket))
	api.Handle(w.Family, catalog.Tickers, func(context.Context, catalog.None) ([]catalog.Ticker, error) {
		client, bucket := storetest.S3(t)
		view := store.NewView(store.NewViews(client, bucket), "tickers", 0, w.Now, func(b []byte) (list []catalog.Ticker, err error) {
			return list, json.Unmarshal(b, &list)
		})
		return view.Get(t.Context())
	})
	a := w.Get(t, w.SubKey, tickers)
	a.Refused(t, http.StatusServiceUnavailable, "trades of Hyperliquid have not arrived yet")
	if a.Header["Retry-After"] != "5" {
		t.Errorf("Retry-After %q", a.Header["Retry-After"])
	}
}
