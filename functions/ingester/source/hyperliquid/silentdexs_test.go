package hyperliquid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestADexThatDoesNotAnswerIsLeftInPeaceForAWhile(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	var s silentDexs
	s.note("abc", now)
	if last := now.Add(dexSilentFor); !s.has("abc", last.Add(-time.Millisecond)) || s.has("abc", last) || s.has("xyz", now) {
		t.Errorf("it is left in peace until %s, others too: %t", s.until["abc"], s.has("xyz", now))
	}
}

// silentVenue has the dexs abc and xyz, and more whose names begin with abc, and does not answer
// some types of request about these and abc.
type silentVenue struct {
	silent map[string]bool // types
	more   int             // dexs

	mu    sync.Mutex
	asked map[string]int // by type and dex
}

func (v *silentVenue) RoundTrip(r *http.Request) (*http.Response, error) {
	var q infoRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.asked[strings.TrimSpace(q.Type+" "+q.Dex)]++
	v.mu.Unlock()
	if strings.HasPrefix(q.Dex, "abc") && v.silent[q.Type] {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	answer := map[string]string{
		"perpDexs":             `[null,{"name":"abc"},{"name":"xyz"}]`,
		"metaAndAssetCtxs":     `[{"universe":[{"name":"BTC"}]},[{"markPx":"1.0"}]]`,
		"spotMetaAndAssetCtxs": `[{},[{"coin":"@107","markPx":"31.5"}]]`,
		"meta":                 `{"universe":[{"name":"BTC"}]}`,
		"spotMeta":             `{"universe":[]}`,
		"allMids":              `{"BTC":"1.0"}`,
	}[q.Type]
	if q.Type == "perpDexs" {
		for n := range v.more {
			answer = strings.TrimSuffix(answer, "]") + fmt.Sprintf(`,{"name":"abc%d"}]`, n)
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// silentInfo is a client of a venue that does not answer types of request about abc.
func silentInfo(types ...string) (*silentVenue, *Info) {
	v := &silentVenue{silent: map[string]bool{}, asked: map[string]int{}}
	for _, kind := range types {
		v.silent[kind] = true
	}
	i := NewInfo("http://venue.invalid")
	i.http = &http.Client{Transport: v}
	return v, i
}

// A look that waits for a dex takes the four tries of a request, some 42 seconds, and in ten
// minutes there are two of them.
const lookFor = 10*time.Minute - 1

func TestTheFiguresOfTheMainDexDoNotWaitForADexThatIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, info := silentInfo("metaAndAssetCtxs")
		c := &Contexts{Info: info, Stats: new(Stats), Log: quiet}
		ctx, stop := context.WithTimeout(t.Context(), lookFor)
		defer stop()
		var mu sync.Mutex
		came := map[string]int{}
		err := c.Follow(ctx, func(_ context.Context, d Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			for _, one := range d.Events.Contexts {
				if one.Spot {
					one.Dex = "spot"
				}
				came[one.Dex]++
			}
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if came[""] != 60 || came["spot"] < 8 || came["xyz"] < 8 {
			t.Errorf("figures came %v, want those of the main dex every ten seconds, and the others every minute but for two", came)
		}
		if n := v.asked["metaAndAssetCtxs abc"]; n != 2*infoTries {
			t.Errorf("the silent dex was asked %d times, want %d", n, 2*infoTries)
		}
	})
}

func TestLooksAtTheMarketsLeaveADexThatIsSilentInPeace(t *testing.T) {
	t.Parallel()
	for silent, want := range map[string]struct{ meta, mids int }{
		"meta":    {2 * infoTries, 0},
		"allMids": {2, 2 * infoTries},
	} {
		synctest.Test(t, func(t *testing.T) {
			v, info := silentInfo(silent)
			f := &Feed{Stats: new(Stats), Log: quiet, info: info, known: map[subscription]bool{}, news: make(chan struct{}, 1)}
			ctx, stop := context.WithTimeout(t.Context(), lookFor)
			defer stop()
			looks := 0
			err := f.markets(ctx, func(_ context.Context, d Delivery) error {
				if looks++; d.Events.Meta.Perps[""] == nil || d.Events.Meta.Perps["xyz"] == nil || len(d.Events.Mids) != 2 {
					t.Errorf("look %d: %+v", looks, d.Events)
				}
				return nil
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if looks < 8 || v.asked["meta abc"] != want.meta || v.asked["allMids abc"] != want.mids {
				t.Errorf("%s is silent: %d looks, asked for its meta %d times and for its mid prices %d times, want %+v", silent, looks, v.asked["meta abc"], v.asked["allMids abc"], want)
			}
		})
	}
}

func TestDexsThatAreSilentAreWaitedForTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, info := silentInfo("meta", "metaAndAssetCtxs")
		v.more = dexsAtOnce - 3 // beside the main one, abc and xyz
		f := &Feed{Stats: new(Stats), Log: quiet, info: info, known: map[subscription]bool{}, news: make(chan struct{}, 1)}
		began := time.Now()
		meta, _, err := f.look(t.Context())
		if took := time.Since(began); err != nil || meta.Perps["xyz"] == nil || took > time.Minute {
			t.Errorf("a look took %s: %+v, %v", took, meta, err)
		}
		began = time.Now()
		c := &Contexts{Info: info, Stats: new(Stats), Log: quiet}
		err = c.others(t.Context(), func(context.Context, Delivery) error { return nil }, new(silentDexs))
		if took := time.Since(began); err != nil || took > time.Minute {
			t.Errorf("the figures took %s, %v", took, err)
		}
	})
}
