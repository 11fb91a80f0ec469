// Package coingecko asks CoinGecko, or whoever speaks its protocol, for the markets
// of coins: GET /coins/markets, in US dollars, the largest coins first.
//
// CoinGecko's ids are the coin keys of the service. Numbers are read as the text
// that they have in the answer: never as floating point.
package coingecko

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/visible"
	"quotary/shared/upstream"
)

// callsPerMinute is what CoinGecko allows with a demo key.
const callsPerMinute = 30

// ahead is by how much the clock of the upstream may be ahead of ours.
const ahead = 10 * time.Minute

// PageSize is how many coins one call returns.
const PageSize = 250

// keyHeader carries the key of a demo account.
const keyHeader = "X-Cg-Demo-Api-Key"

// Markets polls the markets of the largest coins.
type Markets struct {
	URL   string // without /coins/markets: https://api.coingecko.com/api/v3
	Key   string // of the account; "" sends none
	Pages int    // pages of PageSize coins, from the largest on
	Every time.Duration

	Themes      ThemeSink     // nil does not ask for themes
	ThemesEvery time.Duration // between two looks at all themes
	Stats       *source.Stats
	Log         *slog.Logger
}

// Sink takes coins in order. It blocks while its consumer is behind.
type Sink func(context.Context, []market.CoinMarket) error

// Follow delivers the markets, page by page, at once and then every so often, until
// ctx ends or the sink fails. What cannot be asked for is logged and asked for again
// at the next turn. It runs in the caller's goroutine.
func (m *Markets) Follow(ctx context.Context, sink Sink) error {
	host := source.NewHost(m.URL, callsPerMinute)
	host.Usual.Rows = 2 * PageSize
	if m.Key != "" {
		host.Header = http.Header{keyHeader: {m.Key}}
	}
	due := time.Now() // when themes are to be asked for
	return source.Poll(ctx, m.Every, m.Log, "the markets of coins", func(ctx context.Context) error {
		if err := m.poll(ctx, host, sink); err != nil || m.Themes == nil || time.Now().Before(due) {
			return err
		}
		err := m.pollThemes(ctx, host)
		switch {
		case err == nil:
			due = time.Now().Add(m.ThemesEvery)
		case source.SinkError(err) != nil || ctx.Err() != nil:
			return err
		default: // the markets are known, and not asked for again sooner; a month has so many calls
			due = time.Now().Add(m.ThemesEvery / 4)
			m.Log.Warn("cannot ask for all themes of coins", "again_at", due.UTC(), "error", err.Error())
		}
		return nil
	})
}

// poll asks for all pages. One with fewer coins than fit is the last.
func (m *Markets) poll(ctx context.Context, host *source.Host, sink Sink) error {
	for page := 1; page <= m.Pages; page++ {
		query := url.Values{
			"vs_currency": {"usd"}, "order": {"market_cap_desc"}, "per_page": {strconv.Itoa(PageSize)}, "page": {strconv.Itoa(page)},
			"price_change_percentage": {"24h,7d"},
		}
		var rows []json.RawMessage
		if err := host.Get(ctx, "/coins/markets", query, 1, &rows); err != nil {
			return err
		}
		m.Stats.Lines.Add(1)
		coins, newest := make([]market.CoinMarket, 0, len(rows)), int64(0)
		var wrong error // one is enough to say, of however many
		for _, row := range rows {
			coin, err := Parse(row)
			if err == nil && coin.Time > time.Now().Add(ahead).UnixMilli() {
				err = fmt.Errorf("the figures of %s are of the future", coin.Key)
			}
			if err != nil {
				m.Stats.Malformed.Add(1)
				wrong = cmp.Or(wrong, err)
				continue
			}
			coins, newest = append(coins, coin), max(newest, coin.Time)
		}
		if wrong != nil {
			m.Log.Warn("skipped coins", "page", page, "coins", len(rows)-len(coins), "error", wrong.Error())
		}
		m.Stats.Seen(time.Now(), newest)
		if len(coins) > 0 {
			if err := sink(ctx, coins); err != nil {
				return source.OfSink(err)
			}
		}
		if len(rows) < PageSize {
			break
		}
	}
	return nil
}

// coin is a row of /coins/markets, as far as it is read. Every number may be null.
type coin struct {
	ID          string       `json:"id"`
	Symbol      string       `json:"symbol"`
	Name        string       `json:"name"`
	Image       string       `json:"image"`
	Rank        *int64       `json:"market_cap_rank"`
	Price       *json.Number `json:"current_price"`
	MarketCap   *json.Number `json:"market_cap"`
	Volume      *json.Number `json:"total_volume"`
	Degree24h   *json.Number `json:"price_change_percentage_24h"`
	Degree7d    *json.Number `json:"price_change_percentage_7d_in_currency"`
	Supply      *json.Number `json:"circulating_supply"`
	TotalSupply *json.Number `json:"total_supply"`
	MaxSupply   *json.Number `json:"max_supply"`
	LastUpdated *time.Time   `json:"last_updated"`
}

var errNames = errors.New("a coin's key is none, or its names are too long")

// Longest texts of a coin, in bytes.
const maxName = 200

// Parse reads a row of /coins/markets. A number that is null, or is none that the
// service can hold, is unknown. A negative price, value or turnover is no row.
func Parse(row []byte) (market.CoinMarket, error) {
	var c coin
	if err := upstream.Decode(row, &c); err != nil {
		return market.CoinMarket{}, fmt.Errorf("read a coin: %w", err)
	}
	if !market.ValidCoinKey(c.ID) || len(c.Symbol) > maxName || len(c.Name) > maxName {
		return market.CoinMarket{}, errNames
	}
	if c.LastUpdated == nil || c.LastUpdated.UnixMilli() <= 0 {
		return market.CoinMarket{}, fmt.Errorf("of %s it is not known when its figures were made", c.ID)
	}
	m := market.CoinMarket{
		Key: c.ID, Symbol: strings.ToUpper(visible.Line(c.Symbol)), Name: visible.Line(c.Name), Time: c.LastUpdated.UnixMilli(),
		Price: plain(c.Price), MarketCap: plain(c.MarketCap), Turnover24h: plain(c.Volume), Degree24h: percent(c.Degree24h), Degree7d: percent(c.Degree7d),
		Image: address(c.Image), Supply: plain(c.Supply), Issued: cmp.Or(plain(c.MaxSupply), plain(c.TotalSupply)),
	}
	if c.Rank != nil && *c.Rank > 0 {
		m.Rank = *c.Rank
	}
	for _, amount := range []string{m.Price, m.MarketCap, m.Turnover24h, m.Supply, m.Issued} {
		if strings.HasPrefix(amount, "-") {
			return market.CoinMarket{}, fmt.Errorf("%s has an amount below 0", c.ID)
		}
	}
	return m, nil
}

// maxAddress bounds the address of a logo, in bytes.
const maxAddress = 300

// address is the text of an address of the web, empty for what is none.
func address(text string) string {
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" || u.Host == "" || len(text) > maxAddress {
		return ""
	}
	return text
}

// plain is the text of a number, empty for one that is not known.
func plain(n *json.Number) string {
	if n == nil {
		return ""
	}
	text, err := market.PlainNumber(n.String())
	if err != nil {
		return ""
	}
	return text
}

// percentPlaces are those of a change in percent, which the upstream computes in
// floating point.
const percentPlaces = 12

// percent is the text of a change in percent, empty for one that is not known.
func percent(n *json.Number) string {
	if n == nil {
		return ""
	}
	text, err := market.RoundedNumber(n.String(), percentPlaces)
	if err != nil {
		return ""
	}
	return text
}
