package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/shared/testing/testenv"
)

// truth is what the simulated venue says of itself: each state of a coin's
// positions in the last while, and each price that the product may have marked
// them with.
type truth struct {
	mu     sync.Mutex
	states map[string][]coinState
	marks  map[string][]*big.Rat
}

type coinState struct {
	count int64
	open  *big.Rat // base units, of one side
}

// openCoin is a coin of GET /open-interest/top-coins.
type openCoin struct {
	Coin          string
	PositionCount int64
	LongPv        string
	ShortPv       string
	TotalPv       string
	AvgPv         string
}

// TestOpenInterestIsTheVenuesTruth follows the venue's own books block by block
// and wants the product's figures of every perpetual to be, at some moment, one
// of its states: the number of positions and, exactly, the value of both sides
// at a mark price that the product reports. Nothing but the average is rounded.
func TestOpenInterestIsTheVenuesTruth(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	known := &truth{states: map[string][]coinState{}, marks: map[string][]*big.Rat{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var watching sync.WaitGroup
	watching.Go(func() { known.watch(ctx) })
	defer watching.Wait()
	defer stop()

	missing := map[string]string{}
	matched := map[string]bool{}
	defer func() {
		if t.Failed() {
			t.Logf("these never were as the venue has them: %v", missing)
		}
	}()
	matches := func() bool {
		known.mark(t, key)
		top := data[[]openCoin](t, call(t, 200, key, "GET", hl+"/open-interest/top-coins?limit=50&interval=180d", nil))
		coins := known.coins()
		for _, c := range top {
			if matched[c.Coin] {
				continue
			}
			if why := known.differs(c); why != "" {
				missing[c.Coin] = why
				continue
			}
			matched[c.Coin] = true
			delete(missing, c.Coin)
		}
		done := len(coins) > 0
		for _, coin := range coins {
			if !matched[coin] && missing[coin] == "" {
				missing[coin] = "it is not listed"
			}
			done = done && matched[coin]
		}
		return done
	}
	// Accounts that were not seen from their beginning are right once the venue was asked about
	// them, one after another, beside what all other tests ask: that may take longer than a test waits.
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < 3*time.Minute && !matches(); <-tick.C {
	}
	testenv.Until(t, "every coin was once as the venue has it", matches)
	checkSummary(t, key)
}

// watch notes the venue's state, more often than it makes blocks.
func (k *truth) watch(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ; ctx.Err() == nil; <-tick.C {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, world.State.VenueURL+"/truth/coins", nil)
		if err != nil {
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		var books struct {
			Coins []struct {
				Coin          string
				Spot          bool
				OpenInterest  string
				Longs, Shorts int64
			}
		}
		err = json.NewDecoder(resp.Body).Decode(&books)
		resp.Body.Close()
		if err != nil {
			continue
		}
		k.mu.Lock()
		for _, c := range books.Coins {
			if open, ok := new(big.Rat).SetString(c.OpenInterest); ok && !c.Spot && c.Longs+c.Shorts > 0 {
				k.add(c.Coin, coinState{c.Longs + c.Shorts, open})
			}
		}
		k.mu.Unlock()
	}
}

func (k *truth) add(coin string, s coinState) {
	states := k.states[coin]
	if n := len(states); n == 0 || states[n-1].count != s.count || states[n-1].open.Cmp(s.open) != 0 {
		k.states[coin] = append(states, s)
	}
}

// mark notes the mark prices that the product reports, those of dexs that have not
// arrived yet excepted.
func (k *truth) mark(t *testing.T, key client.Key) {
	t.Helper()
	dexs := ask(t, key, "POST", hl+"/info", map[string]any{"type": "perpDexs"})
	if dexs.Status == http.StatusServiceUnavailable {
		return
	}
	for _, dex := range data[[]string](t, dexs) {
		answer := ask(t, key, "POST", hl+"/info", map[string]any{"type": "metaAndAssetCtxs", "dex": dex})
		if answer.Status != http.StatusOK {
			continue
		}
		pair := data[[2]json.RawMessage](t, answer)
		var description struct{ Universe []struct{ Name string } }
		var figures []struct{ MarkPx string }
		if json.Unmarshal(pair[0], &description) != nil || json.Unmarshal(pair[1], &figures) != nil || len(description.Universe) != len(figures) {
			t.Fatalf("metaAndAssetCtxs of %q: %.300s", dex, answer.Body)
		}
		for i, f := range figures {
			px, ok := new(big.Rat).SetString(f.MarkPx)
			if !ok {
				t.Fatalf("the mark price of %s is %q", description.Universe[i].Name, f.MarkPx)
			}
			coin := description.Universe[i].Name
			if !slices.ContainsFunc(k.marks[coin], func(have *big.Rat) bool { return have.Cmp(px) == 0 }) {
				k.marks[coin] = append(k.marks[coin], px)
			}
		}
	}
}

func (k *truth) coins() (list []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for coin := range k.states {
		list = append(list, coin)
	}
	return list
}

// differs returns why a coin is in none of the states that the venue had, "" when
// it is in one.
func (k *truth) differs(c openCoin) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.LongPv != c.ShortPv {
		return fmt.Sprintf("long is %s and short %s", c.LongPv, c.ShortPv)
	}
	value, _ := new(big.Rat).SetString(c.LongPv)
	for _, s := range k.states[c.Coin] {
		for _, px := range k.marks[c.Coin] {
			if s.count == c.PositionCount && value.Cmp(new(big.Rat).Mul(s.open, px)) == 0 {
				return ""
			}
		}
	}
	last := coinState{open: new(big.Rat)}
	if n := len(k.states[c.Coin]); n > 0 {
		last = k.states[c.Coin][n-1]
	}
	return fmt.Sprintf("%d positions of %s, the venue has %d and %s units", c.PositionCount, c.LongPv, last.count, last.open.FloatString(5))
}

// checkSummary wants the summary to be the sum of the coins, as long as both
// come from one state.
func checkSummary(t *testing.T, key client.Key) {
	t.Helper()
	list := func() []openCoin {
		return data[[]openCoin](t, call(t, 200, key, "GET", hl+"/open-interest/top-coins?limit=50&interval=180d", nil))
	}
	differs := "the open interest changed at every look"
	for range 20 {
		before := list()
		sum := data[openCoin](t, call(t, 200, key, "GET", hl+"/open-interest/summary", nil))
		if !slices.Equal(before, list()) {
			continue // it changed meanwhile
		}
		var count int64
		total := new(big.Rat)
		for i, c := range before {
			value, ok := new(big.Rat).SetString(c.TotalPv)
			if !ok {
				t.Fatalf("value of %s is %q", c.Coin, c.TotalPv)
			}
			if i > 0 {
				if more, _ := new(big.Rat).SetString(before[i-1].TotalPv); more.Cmp(value) < 0 {
					t.Errorf("%s comes after %s", c.Coin, before[i-1].Coin)
				}
			}
			count += c.PositionCount
			total.Add(total, value)
		}
		if value, ok := new(big.Rat).SetString(sum.TotalPv); sum.PositionCount != count || !ok || value.Cmp(total) != 0 {
			// Another instance of the function may have answered, from another moment.
			differs = fmt.Sprintf("the summary is %+v, the coins have %d positions of %s", sum, count, total.FloatString(8))
			continue
		}
		return
	}
	t.Error(differs)
}
