package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/klines"
)

// How old a view may be in memory before S3 is asked again. Mid prices move all
// the time; the ingester asks for figures every ten seconds and for
// descriptions once a minute.
const (
	midsPeriod     = time.Second
	booksPeriod    = time.Second
	contextsPeriod = 5 * time.Second
	metaPeriod     = 10 * time.Second
)

// info holds what the answers are read from.
type info struct {
	log      *store.Log
	series   *store.Series
	mids     *store.View[map[string]json.RawMessage] // by dex
	meta     *store.View[descriptions]
	books    *store.View[map[string]json.RawMessage] // by coin
	contexts *store.View[figures]
}

// descriptions is the view of market descriptions, each as the venue wrote it.
type descriptions struct {
	Perps map[string]json.RawMessage `json:"meta"` // by dex
	Spot  json.RawMessage            `json:"spotMeta"`
}

func newInfo(log *store.Log, series *store.Series, views *store.Views, clock func() time.Time) *info {
	return &info{
		log:    log,
		series: series,
		mids: store.NewView(views, store.MidsView, midsPeriod, clock, func(body []byte) (map[string]json.RawMessage, error) {
			var view struct {
				Mids map[string]json.RawMessage `json:"mids"`
			}
			err := json.Unmarshal(body, &view)
			return view.Mids, err
		}),
		meta: store.NewView(views, store.MetaView, metaPeriod, clock, func(body []byte) (d descriptions, err error) {
			return d, json.Unmarshal(body, &d)
		}),
		books: store.NewView(views, store.BooksView, booksPeriod, clock, func(body []byte) (map[string]json.RawMessage, error) {
			var view struct {
				Books map[string]json.RawMessage `json:"books"`
			}
			err := json.Unmarshal(body, &view)
			return view.Books, err
		}),
		contexts: store.NewView(views, store.ContextsView, contextsPeriod, clock, func(body []byte) (f figures, err error) {
			return f, json.Unmarshal(body, &f)
		}),
	}
}

// planned are the specified types that have no answer yet.
var planned = []string{
	"activeAssetData", "clearinghouseState", "frontendOpenOrders", "openOrders",
	"portfolio", "spotClearinghouseState", "userFees", "userFunding", "userNonFundingLedgerUpdates", "userTwapSliceFills", "webData2",
}

// answer routes a question by its type. The data is the venue's answer to the
// same question.
func (i *info) answer(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	switch in.Type {
	case "allMids":
		return i.allMids(ctx, in.Dex)
	case "meta":
		return i.perpMeta(ctx, in.Dex)
	case "spotMeta":
		return i.spotMeta(ctx)
	case "metaAndAssetCtxs":
		return i.perpContexts(ctx, in.Dex)
	case "spotMetaAndAssetCtxs":
		return i.spotContexts(ctx)
	case "perpDexs":
		return i.perpDexs(ctx)
	case "candleSnapshot":
		return i.candleSnapshot(ctx, in.Req)
	case "l2Book":
		return i.l2Book(ctx, in)
	case "fundingHistory":
		return i.fundingHistory(ctx, in)
	case "historicalOrders":
		return i.historicalOrders(ctx, in)
	case "orderStatus":
		return i.orderStatus(ctx, in)
	case "userFills":
		return i.userFills(ctx, in)
	case "userFillsByTime":
		return i.userFillsByTime(ctx, in)
	}
	if slices.Contains(planned, in.Type) {
		return nil, &api.Error{Status: http.StatusNotImplemented, Message: "the type " + in.Type + " is specified but not available yet"}
	}
	return nil, api.BadRequest("unknown type %q: it must be one of allMids, meta, spotMeta, candleSnapshot, fundingHistory, historicalOrders, l2Book, metaAndAssetCtxs, orderStatus, perpDexs, spotMetaAndAssetCtxs, userFills, userFillsByTime", in.Type)
}

// allMids is an object of mid prices by coin.
func (i *info) allMids(ctx context.Context, dex string) (json.RawMessage, error) {
	mids, err := i.mids.Get(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	return ofDex(mids, dex)
}

// perpMeta is the description of a dex's perpetuals.
func (i *info) perpMeta(ctx context.Context, dex string) (json.RawMessage, error) {
	meta, err := i.meta.Get(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	return ofDex(meta.Perps, dex)
}

// spotMeta is the description of the spot tokens and pairs.
func (i *info) spotMeta(ctx context.Context) (json.RawMessage, error) {
	meta, err := i.meta.Get(ctx)
	if err == nil && (len(meta.Spot) == 0 || string(meta.Spot) == "null") {
		err = store.ErrNoView
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return meta.Spot, nil
}

func ofDex(byDex map[string]json.RawMessage, dex string) (json.RawMessage, error) {
	body, ok := byDex[dex]
	switch {
	case ok:
		return body, nil
	case dex == "": // the main dex exists, but nothing of it has arrived
		return nil, unavailable(store.ErrNoView)
	}
	return nil, api.BadRequest("unknown dex %q: it must be the name of a perpetual dex, or absent for the main one", dex)
}

// unavailable turns the absence of a view into what a caller may read.
func unavailable(err error) error {
	if errors.Is(err, store.ErrNoView) {
		return &api.Error{Status: http.StatusServiceUnavailable, Message: "the venue's data has not arrived yet: try again later"}
	}
	return err
}

// maxCandles is how many candles one answer holds.
const maxCandles = 2000

var candleIntervals = strings.Split(catalog.CandleIntervals, "|")

// candleSnapshot returns the candles that overlap the span, oldest first; of
// more than fit into an answer the newest. As at the venue the candle in which
// startTime falls is the first and the one in which endTime falls the last.
func (i *info) candleSnapshot(ctx context.Context, req *catalog.InfoCandles) (json.RawMessage, error) {
	switch {
	case req == nil:
		return nil, api.BadRequest("missing req: it must be an object of coin, interval, startTime and endTime")
	case req.Coin == "":
		return nil, api.BadRequest("missing req.coin: it must be a coin name")
	case !slices.Contains(candleIntervals, req.Interval):
		return nil, api.BadRequest("invalid req.interval: must be one of %s", strings.Join(candleIntervals, ", "))
	}
	interval, err := market.ParseInterval(req.Interval)
	if err != nil {
		return nil, api.BadRequest("invalid req.interval: %v", err)
	}
	var from, to time.Time
	if req.StartTime != nil {
		from = interval.Start(req.StartTime.Time())
	}
	if req.EndTime != nil {
		to = req.EndTime.Time()
	}
	candles, err := klines.Newest(ctx, i.series, string(req.Coin), interval, from, to, maxCandles)
	if err != nil {
		return nil, err
	}
	out := make([]catalog.Candle, len(candles))
	for n := range candles {
		c := &candles[n]
		out[n] = catalog.Candle{
			T: c.OpenTime, End: interval.NextMs(c.OpenTime) - 1, S: string(req.Coin), I: req.Interval,
			Open: market.Text(c.Open), Close: market.Text(c.Close), High: market.Text(c.High), Low: market.Text(c.Low),
			V: market.Text(c.Size), N: c.Trades,
		}
	}
	return encode(out)
}

// encode writes an answer; a fill's dir holds a '>', which stays as it is.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
