package hyperliquid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/shared/market"
)

// infoVenue answers POST /info by type, dex and coin.
type infoVenue struct {
	mu    sync.Mutex
	asked []string
	// answer is what to answer; "" is refused.
	answer func(kind, name string, startTime int64) string
}

func (v *infoVenue) serve(t *testing.T) *Info {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Type, Dex, Coin, VaultAddress string
			StartTime                     int64
		}
		json.NewDecoder(r.Body).Decode(&q)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.asked = append(v.asked, strings.TrimSpace(q.Type+" "+q.Dex+q.Coin+q.VaultAddress))
		body := v.answer(q.Type, q.Dex+q.Coin+q.VaultAddress, q.StartTime)
		if body == "" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return NewInfo(server.URL)
}

func (v *infoVenue) count(what string) (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.asked {
		if a == what {
			n++
		}
	}
	return n
}

var errEnough = errors.New("enough")

func TestContextsOfEveryDexAndOfSpotAreDelivered(t *testing.T) {
	t.Parallel()
	v := &infoVenue{answer: func(kind, name string, _ int64) string {
		switch kind + " " + name {
		case "perpDexs ":
			return `[null,{"name":"bad"},{"name":"xyz"}]`
		case "metaAndAssetCtxs ":
			return `[{"universe":[{"name":"BTC"}]},[{"markPx":"84026.5","funding":"0.0000125"}]]`
		case "metaAndAssetCtxs xyz":
			return `[{"universe":[{"name":"xyz:GOLD"}]},[{"markPx":"4001.5"}]]`
		case "metaAndAssetCtxs bad":
			return `[{"universe":[]},[{"markPx":"4001.5"}]]`
		case "spotMetaAndAssetCtxs ":
			return `[{},[{"coin":"@107","markPx":"31.5"}]]`
		}
		return ""
	}}
	c := &Contexts{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Every: time.Millisecond, Rest: time.Hour}
	var mu sync.Mutex
	emitted := map[string]int{}
	err := c.Follow(t.Context(), func(_ context.Context, d Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range d.Events.Contexts {
			for _, coin := range c.Coins {
				emitted[coin.Coin+" "+market.Text(coin.Mark)]++
			}
		}
		if len(emitted) == 3 && emitted["BTC 84026.5"] >= 3 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	if emitted["BTC 84026.5"] < 3 || emitted["xyz:GOLD 4001.5"] != 1 || emitted["@107 31.5"] != 1 {
		t.Errorf("emitted %v", emitted)
	}
	if c.Stats.Malformed.Load() != 1 {
		t.Errorf("%d malformed, want the one of dex bad", c.Stats.Malformed.Load())
	}
}

func TestARefusalOfTheMainDexIsTriedAgain(t *testing.T) {
	t.Parallel()
	calls := 0
	v := &infoVenue{answer: func(kind, _ string, _ int64) string {
		if kind != "metaAndAssetCtxs" {
			return ""
		}
		if calls++; calls < 3 {
			return ""
		}
		return `[{"universe":[{"name":"BTC"}]},[{"markPx":"1.0"}]]`
	}}
	c := &Contexts{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Every: time.Millisecond}
	err := c.Follow(t.Context(), func(context.Context, Delivery) error { return errEnough })
	if !errors.Is(err, errEnough) || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestFundingIsAskedForFromWhatIsStored has a coin with stored funding, one
// without any and more than one answer holds, and a delisted one.
func TestFundingIsAskedForFromWhatIsStored(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 30, 0, time.UTC)
	hour := now.Truncate(time.Hour)
	v := &infoVenue{answer: func(kind, name string, start int64) string {
		switch kind + " " + name {
		case "perpDexs ":
			return `[null]`
		case "meta ":
			return `{"universe":[{"name":"BTC"},{"name":"OLD","isDelisted":true},{"name":"ETH"},{"name":"GONE"}]}`
		case "fundingHistory BTC", "fundingHistory ETH":
			list := []map[string]any{}
			for at := now.Add(-fundingBack).Truncate(time.Hour); !at.After(hour) && len(list) < 500; at = at.Add(time.Hour) {
				if ms := at.UnixMilli() + 17; ms >= start {
					list = append(list, map[string]any{"coin": name, "fundingRate": "0.0000125", "premium": "-0.0003", "time": ms})
				}
			}
			if ahead := now.Add(time.Hour).UnixMilli(); len(list) < 500 {
				list = append(list, map[string]any{"coin": name, "fundingRate": "0.0000125", "premium": "-0.0003", "time": ahead})
			}
			b, _ := json.Marshal(list)
			return string(b)
		}
		return ""
	}}
	f := &Funding{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Every: time.Millisecond,
		Newest: func(_ context.Context, coin string) (time.Time, error) {
			if coin == "BTC" {
				return hour.Add(-2*time.Hour + 17*time.Millisecond), nil
			}
			return time.Time{}, nil
		}}
	ctx, cancel := context.WithCancelCause(t.Context())
	got := map[string][]int64{}
	looks := 0
	f.Now = func() time.Time {
		if v.count("fundingHistory GONE") > 0 {
			// After the first round each look at the clock is a chance to begin a second.
			if looks++; looks == 10 {
				cancel(errEnough)
			}
		}
		return now
	}
	err := f.Follow(ctx, func(_ context.Context, d Delivery) error {
		for _, f := range d.Events.Funding {
			got[f.Coin] = append(got[f.Coin], f.Time)
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	if want := []int64{hour.UnixMilli() - 3_600_000 + 17, hour.UnixMilli() + 17}; !slices.Equal(got["BTC"], want) {
		t.Errorf("BTC: %v, want %v", got["BTC"], want)
	}
	if len(got["ETH"]) != 720 || got["ETH"][719] != hour.UnixMilli()+17 {
		t.Errorf("ETH: %d hours, want the 720 of 30 days", len(got["ETH"]))
	}
	if n := v.count("fundingHistory ETH"); n != 2 {
		t.Errorf("asked for ETH %d times, want 2", n)
	}
	if n := v.count("fundingHistory GONE"); n != 1 {
		t.Errorf("asked for GONE %d times: a refusal is left for the next hour", n)
	}
	if n := v.count("fundingHistory OLD"); n != 0 {
		t.Errorf("asked for a delisted coin %d times", n)
	}
}

// A dex of strangers that cannot be described costs the funding of no other, nor does a coin of which
// the venue tells the same however late it is asked from.
func TestNoDexAndNoCoinHoldsUpTheFundingOfOthers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 30, 0, time.UTC)
	for name, described := range map[string]string{
		"refused": "", "of no markets": `{}`, "too large": `{"universe":[` + strings.Repeat(`{"name":"abc:A"},`, dexBounds.Rows) + `{"name":"abc:B"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &infoVenue{answer: func(kind, name string, _ int64) string {
				switch kind + " " + name {
				case "perpDexs ":
					return `[null,{"name":"abc"}]`
				case "meta ":
					return `{"universe":[{"name":"OLD"},{"name":"BTC"}]}`
				case "meta abc":
					return described
				case "fundingHistory OLD":
					row := fmt.Sprintf(`{"coin":"OLD","fundingRate":"0.1","time":%d}`, now.Add(-5*time.Hour).UnixMilli())
					return "[" + strings.Repeat(row+",", fundingPage) + row + "]"
				case "fundingHistory BTC":
					return fmt.Sprintf(`[{"coin":"BTC","fundingRate":"0.1","time":%d}]`, now.Truncate(time.Hour).UnixMilli())
				}
				return ""
			}}
			f := &Funding{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Every: time.Millisecond,
				Now: func() time.Time { return now }, Newest: func(context.Context, string) (time.Time, error) { return time.Time{}, nil }}
			err := f.Follow(t.Context(), func(_ context.Context, d Delivery) error {
				if d.Events.Funding[0].Coin == "BTC" {
					return errEnough
				}
				return nil
			})
			if !errors.Is(err, errEnough) || v.count("fundingHistory OLD") != 2 || f.Stats.Malformed.Load() != 1 {
				t.Errorf("%v: asked for OLD %d times, %d malformed", err, v.count("fundingHistory OLD"), f.Stats.Malformed.Load())
			}
		})
	}
}
