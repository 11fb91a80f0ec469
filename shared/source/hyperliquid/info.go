package hyperliquid

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"quotary/shared/market"
)

// Weights of info requests, and how much weight an IP address may spend a
// minute, as the venue documents them.
const (
	weightPerMinute = 1200
	weightLight     = 2  // allMids
	weightOther     = 20 // most types
	weightTrades    = 21 // recentTrades: 20, and 1 for every 20 items
)

const (
	infoTimeout  = 10 * time.Second
	infoTries    = 4
	infoResponse = 32 << 20 // bytes; the largest answers are below 2 MB
)

// Info asks the public info endpoint. It keeps to the venue's limits, gives each
// request ten seconds and tries four times what may succeed later.
type Info struct {
	url    string
	http   *http.Client
	budget *Budget
}

// NewInfo returns a client of the venue at base, e.g. https://api.hyperliquid.xyz.
func NewInfo(base string) *Info {
	return &Info{
		url:    strings.TrimSuffix(base, "/") + "/info",
		http:   &http.Client{Timeout: infoTimeout},
		budget: NewBudget(weightPerMinute, time.Now),
	}
}

// request is the union of the fields of the types that are asked for.
type infoRequest struct {
	Type string `json:"type"`
	Dex  string `json:"dex,omitempty"`
	Coin string `json:"coin,omitempty"`
	User string `json:"user,omitempty"`

	StartTime int64 `json:"startTime,omitempty"` // ms
}

// AllMids returns the mid price of each coin of a dex; "" is the main one.
func (i *Info) AllMids(ctx context.Context, dex string) (map[string]string, error) {
	var mids map[string]string
	if err := i.ask(ctx, weightLight, infoRequest{Type: "allMids", Dex: dex}, &mids); err != nil {
		return nil, err
	}
	return validMids(mids), nil
}

// Meta returns the description of a dex's perpetuals as the venue wrote it.
func (i *Info) Meta(ctx context.Context, dex string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := i.ask(ctx, weightOther, infoRequest{Type: "meta", Dex: dex}, &raw)
	return raw, err
}

// SpotMeta returns the description of the spot markets as the venue wrote it.
func (i *Info) SpotMeta(ctx context.Context) (json.RawMessage, error) {
	var raw json.RawMessage
	err := i.ask(ctx, weightOther, infoRequest{Type: "spotMeta"}, &raw)
	return raw, err
}

// PerpDexs returns the names of all dexs, "" for the main one.
func (i *Info) PerpDexs(ctx context.Context) ([]string, error) {
	var dexs []*struct {
		Name string `json:"name"`
	}
	if err := i.ask(ctx, weightOther, infoRequest{Type: "perpDexs"}, &dexs); err != nil {
		return nil, err
	}
	names := []string{""}
	for _, d := range dexs {
		if d != nil && d.Name != "" && market.ValidCoin(d.Name) {
			names = append(names, d.Name)
		}
	}
	return names, nil
}

// RecentTrades returns the last trades of a coin that the venue still knows,
// and how many of them could not be read.
func (i *Info) RecentTrades(ctx context.Context, coin string) (trades []market.Trade, malformed int, err error) {
	var wire []wireTrade
	if err := i.ask(ctx, weightTrades, infoRequest{Type: "recentTrades", Coin: coin}, &wire); err != nil {
		return nil, 0, err
	}
	trades, malformed = toTrades(wire, true)
	return trades, malformed, nil
}

// ask spends the weight, sends the request, and reads the answer into out.
func (i *Info) ask(ctx context.Context, weight int, request infoRequest, out any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", request.Type, err)
	}
	for try := 1; ; try++ {
		if err = i.budget.Spend(ctx, weight); err != nil {
			break
		}
		var again bool
		if again, err = i.once(ctx, body, out); err == nil {
			return nil
		}
		if !again || try == infoTries {
			break
		}
		if err := sleep(ctx, jittered(try)); err != nil {
			break
		}
	}
	return fmt.Errorf("ask for %s: %w", request.Type, err)
}

// jittered is the pause after a failed try: at least a quarter of a ceiling that
// doubles from half a second to a minute, the rest random.
func jittered(try int) time.Duration {
	ceiling := min(time.Minute, 250*time.Millisecond<<min(try, 10))
	return ceiling/4 + rand.N(3*ceiling/4)
}

// once sends the request once; again tells whether an error may pass by.
func (i *Info) once(ctx context.Context, body []byte, out any) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := i.http.Do(req)
	if err != nil {
		return ctx.Err() == nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, infoResponse+1))
	switch {
	case err != nil:
		return ctx.Err() == nil, err
	case len(data) > infoResponse:
		return false, fmt.Errorf("the answer is larger than %d bytes", infoResponse)
	case resp.StatusCode != http.StatusOK:
		later := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
		return later, fmt.Errorf("status %d: %s", resp.StatusCode, excerpt(string(data)))
	}
	if err := json.Unmarshal(data, out); err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return false, nil
}

// wireTrade is a trade of the public API.
type wireTrade struct {
	Coin  string   `json:"coin"`
	Side  string   `json:"side"` // of the taker
	Px    string   `json:"px"`
	Sz    string   `json:"sz"`
	Time  int64    `json:"time"`
	Hash  string   `json:"hash"`
	Tid   int64    `json:"tid"`
	Users []string `json:"users"` // buyer, seller
}

var errTrade = errors.New("is no trade")

func (w *wireTrade) trade() (market.Trade, error) {
	if !market.ValidCoin(w.Coin) || w.Side != "A" && w.Side != "B" || w.Time <= 0 || w.Time > 9_999_999_999_999 || w.Tid <= 0 {
		return market.Trade{}, errTrade
	}
	if err := market.CheckQuantity(w.Px, w.Sz); err != nil {
		return market.Trade{}, err
	}
	t := market.Trade{Coin: w.Coin, Side: market.Side(w.Side[0]), Time: w.Time, Tid: w.Tid, Hash: w.Hash}
	var err error
	if t.Px, err = market.ParseDecimal(w.Px); err != nil {
		return market.Trade{}, err
	}
	if t.Sz, err = market.ParseDecimal(w.Sz); err != nil {
		return market.Trade{}, err
	}
	copy(t.Users[:], w.Users)
	return t, nil
}

// toTrades reads a list of trades, and counts those that are none. The venue
// lists all trades of a time side by side, in the order of execution or, newest
// first, in reverse; newestFirst tells which, where the times do not. Seq is the
// place in the list from its oldest trade on: it orders the trades of one ms,
// which all have the time of their block. Longer lists give higher places, so a
// list that comes again never turns the order around.
func toTrades(wire []wireTrade, newestFirst bool) (trades []market.Trade, malformed int) {
	if n := len(wire); n > 1 && wire[0].Time != wire[n-1].Time {
		newestFirst = wire[0].Time > wire[n-1].Time
	}
	trades = make([]market.Trade, 0, len(wire))
	for i := range wire {
		t, err := wire[i].trade()
		if err != nil {
			malformed++
			continue
		}
		t.Seq = int64(i + 1)
		if newestFirst {
			t.Seq = int64(len(wire) - i)
		}
		trades = append(trades, t)
	}
	return trades, malformed
}

// validMids leaves out what is no price.
func validMids(mids map[string]string) map[string]string {
	for coin, px := range mids {
		if market.CheckQuantity(px, "1") != nil || !market.ValidCoin(coin) {
			delete(mids, coin)
		}
	}
	return mids
}
