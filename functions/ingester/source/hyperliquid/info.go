package hyperliquid

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/text/lenient"
	"quotary/shared/text/visible"
	"quotary/shared/upstream"
	"quotary/shared/venue/wire"
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
	infoTimeout = 10 * time.Second
	infoTries   = 4
)

// infoBounds are those of answers: the largest are below 2 MB, of open orders and of ledger
// updates, which an account may have thousands of.
var infoBounds = upstream.Bounds{Bytes: 8 << 20, Rows: 20_000}

// dexBounds are those of what is asked of a dex other than the main one, of which there may be
// as many as [mostDexs]: the largest are some 20 KB.
var dexBounds = upstream.Bounds{Bytes: 512 << 10, Rows: 5000}

// Info asks the public info endpoint. It keeps to the venue's limits, gives each
// request ten seconds and tries four times what may succeed later.
type Info struct {
	url    string
	http   *http.Client
	budget *source.Budget

	dexs, coins *Names // that are taken
}

// NewInfo returns a client of the venue at base, e.g. https://api.hyperliquid.xyz.
func NewInfo(base string) *Info {
	return &Info{
		url:    strings.TrimSuffix(base, "/") + "/info",
		http:   upstream.NewClient(base),
		budget: source.NewBudget(weightPerMinute, time.Now),
		dexs:   newNames(mostDexs), coins: newNames(mostCoins),
	}
}

// NewNodeInfo returns a client of the info endpoint that a node of one's own serves at
// base, which has no limits.
func NewNodeInfo(base string) *Info {
	i := NewInfo(base)
	i.budget = source.NewBudget(unlimited, time.Now)
	return i
}

// unlimited is more weight a minute than anybody could spend.
const unlimited = 1_000_000_000

// infoRequest has the fields of all types of request to the info endpoint that are
// sent.
type infoRequest struct {
	Type string `json:"type"`
	Dex  string `json:"dex,omitempty"`
	Coin string `json:"coin,omitempty"`
	User string `json:"user,omitempty"`

	VaultAddress string `json:"vaultAddress,omitempty"`

	StartTime int64 `json:"startTime,omitempty"` // ms
}

// AllMids returns the mid price of each coin of a dex; "" is the main one.
func (i *Info) AllMids(ctx context.Context, dex string) (map[string]string, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightLight, infoRequest{Type: "allMids", Dex: dex}, &raw); err != nil {
		return nil, err
	}
	var mids map[string]string
	if err := lenient.Object(raw, &mids); err != nil {
		return nil, fmt.Errorf("read the mid prices of dex %q: %w", dex, err)
	}
	return wire.ValidMids(mids), nil
}

// Meta returns the description of a dex's perpetuals as the venue wrote it, but for what is
// hidden.
func (i *Info) Meta(ctx context.Context, dex string) (json.RawMessage, error) {
	return i.written(ctx, weightOther, infoRequest{Type: "meta", Dex: dex})
}

// written is an answer as the venue wrote it, for clients: but for what is hidden in it.
func (i *Info) written(ctx context.Context, weight int, request infoRequest) (json.RawMessage, error) {
	var raw json.RawMessage
	err := i.ask(ctx, weight, request, &raw)
	return visible.JSON(raw), err
}

// writtenList are the elements of an answer as the venue wrote them, for clients: but for what is
// hidden in them.
func (i *Info) writtenList(ctx context.Context, weight int, request infoRequest) ([]json.RawMessage, error) {
	var list []json.RawMessage
	err := i.ask(ctx, weight, request, &list)
	for n := range list {
		list[n] = visible.JSON(list[n])
	}
	return list, err
}

// SpotMeta returns the description of the spot markets as the venue wrote it, but for what is
// hidden.
func (i *Info) SpotMeta(ctx context.Context) (json.RawMessage, error) {
	return i.written(ctx, weightOther, infoRequest{Type: "spotMeta"})
}

// PerpDexs returns the names of all dexs, "" for the main one.
func (i *Info) PerpDexs(ctx context.Context) ([]string, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightOther, infoRequest{Type: "perpDexs"}, &raw); err != nil {
		return nil, err
	}
	var dexs []*struct {
		Name string `json:"name"`
	}
	if err := lenient.List(raw, &dexs); err != nil {
		return nil, fmt.Errorf("read the dexs: %w", err)
	}
	names := []string{""}
	for _, d := range dexs {
		if d != nil && market.ValidName(d.Name) && i.dexs.take(d.Name) {
			names = append(names, d.Name)
		}
	}
	return names, nil
}

// RecentTrades returns the last trades of a coin that the venue still knows,
// and how many of them could not be read.
func (i *Info) RecentTrades(ctx context.Context, coin string) (trades []market.Trade, malformed int, err error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightTrades, infoRequest{Type: "recentTrades", Coin: coin}, &raw); err != nil {
		return nil, 0, err
	}
	return wire.ParseTrades(raw, true)
}

// ask spends the weight, sends the request, and reads the answer into out.
func (i *Info) ask(ctx context.Context, weight int, request infoRequest, out any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", request.Type, err)
	}
	bounds := infoBounds
	if request.Dex != "" && request.User == "" {
		bounds = dexBounds
	}
	for try := 1; ; try++ {
		if err = i.budget.Spend(ctx, weight); err != nil {
			break
		}
		var again bool
		if again, err = i.once(ctx, body, bounds, out); err == nil {
			return nil
		}
		if !again || try == infoTries {
			break
		}
		if err := pauses.Wait(ctx, try-1); err != nil {
			break
		}
	}
	return fmt.Errorf("ask for %s: %w", request.Type, err)
}

// pauses are those between the tries of whatever the venue refuses.
var pauses = backoff.Backoff{Min: 500 * time.Millisecond, Max: time.Minute}

// once sends the request once; again reports whether an error may pass by.
func (i *Info) once(ctx context.Context, body []byte, bounds upstream.Bounds, out any) (again bool, err error) {
	trying, done := context.WithTimeout(ctx, infoTimeout)
	defer done()
	req, err := http.NewRequestWithContext(trying, http.MethodPost, i.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := i.http.Do(req)
	if err != nil {
		return ctx.Err() == nil, upstream.Unquoted(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		later := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
		return later, &upstream.RefusedError{Status: resp.StatusCode}
	}
	data, err := bounds.ReadJSON(resp.Body)
	if err != nil {
		return ctx.Err() == nil && !errors.Is(err, upstream.ErrBounds), err
	}
	if err := upstream.Decode(data, out); err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return false, nil
}
