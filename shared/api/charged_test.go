package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/api"
	"quotary/shared/api/apitest"
	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
)

// A failure costs nothing, unless its data was read before it was known. One that takes
// too long is a test of its own.
func TestAFailureWhoseDataWasReadIsCharged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  func() ([]catalog.TakerKline, error)
		status  int
		charged int64
		says    string
	}{
		"a success":           {func() ([]catalog.TakerKline, error) { return nil, nil }, http.StatusOK, 1, ""},
		"a refused parameter": {func() ([]catalog.TakerKline, error) { return nil, api.BadParameter("invalid coin") }, http.StatusBadRequest, 0, "invalid coin"},
		"nothing found":       {func() ([]catalog.TakerKline, error) { return nil, api.NotFound("no such coin") }, http.StatusNotFound, 0, "no such coin"},
		"a fault":             {func() ([]catalog.TakerKline, error) { return nil, fmt.Errorf("secret") }, http.StatusInternalServerError, 0, "internal error"},
		"a table that is short of capacity": {func() ([]catalog.TakerKline, error) {
			return nil, fmt.Errorf("range of klines: %w", &types.ProvisionedThroughputExceededException{})
		}, http.StatusServiceUnavailable, 0, "the store is busy: ask again in a second"},
		"an answer that is too large": {func() ([]catalog.TakerKline, error) {
			return []catalog.TakerKline{{Open: strings.Repeat("x", 7<<20)}}, nil
		}, http.StatusBadRequest, 1, "the answer would exceed 6 MB"},
		"an answer for which too much is read": {func() ([]catalog.TakerKline, error) {
			return nil, fmt.Errorf("read rows: %w", &readunits.ExceededError{Budget: 5000})
		}, http.StatusBadRequest, 1, "more would have to be read than one request may read: narrow it by startTime, endTime, limit"},
		"more of one thing than the distributor's share": {func() ([]catalog.TakerKline, error) {
			return nil, fmt.Errorf("read rows: %w", &readunits.ShareError{Of: "klines BTC 1m"})
		}, http.StatusTooManyRequests, 0, "too much of klines BTC 1m is read at once: all sub-keys of the distributor may read 1000 units of it in a second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apitest.New(t, string(catalog.PerpMarket))
			api.Handle(w.Family, catalog.TakerKlines, func(context.Context, catalog.TakerKlinesIn) ([]catalog.TakerKline, error) { return c.answer() })
			a := w.Get(t, w.SubKey, klines)
			if a.Status != c.status || !strings.Contains(string(a.Body), c.says) {
				t.Errorf("%d %.200s", a.Status, a.Body)
			}
			if n := used(t, w); n != c.charged {
				t.Errorf("charged %d times, want %d", n, c.charged)
			}
			if after := a.Header["Retry-After"]; (c.status == http.StatusServiceUnavailable || c.status == http.StatusTooManyRequests) && after != "1" {
				t.Errorf("Retry-After is %q", after)
			}
		})
	}
}
