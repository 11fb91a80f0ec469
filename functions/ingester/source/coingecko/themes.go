package coingecko

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// ThemeSink takes themes, each with all of its coins.
type ThemeSink func(context.Context, market.CoinTheme) error

// themes are those that are asked for, with the upstream's categories.
var themes = []struct{ key, category string }{
	{"defi", "decentralized-finance-defi"}, {"gamefi", "gaming"}, {"anonymous", "privacy-coins"}, {"market", "exchange-based-tokens"}, {"stable", "stablecoins"},
}

// ofTheme is how many coins are asked for of a theme, the largest.
const ofTheme = 100

// pollThemes asks for the coins of all themes, one call each: one that is refused keeps what it had,
// and stops no other. Its errors are joined.
func (m *Markets) pollThemes(ctx context.Context, host *source.Host) (failed error) {
	for _, theme := range themes {
		query := url.Values{"vs_currency": {"usd"}, "category": {theme.category}, "order": {"market_cap_desc"}, "per_page": {strconv.Itoa(ofTheme)}, "page": {"1"}}
		var rows []json.RawMessage
		if err := host.Get(ctx, "/coins/markets", query, 1, &rows); err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed = errors.Join(failed, fmt.Errorf("theme %s: %w", theme.key, err))
			continue
		}
		m.Stats.Lines.Add(1)
		list := market.CoinTheme{Key: theme.key, Time: time.Now().UnixMilli()}
		for _, row := range rows[:min(len(rows), ofTheme)] {
			coin, err := Parse(row)
			if err != nil {
				m.Stats.Malformed.Add(1)
				continue
			}
			list.Coins = append(list.Coins, coin.Key)
		}
		if len(list.Coins) == 0 { // a category that was renamed keeps what it had
			m.Log.Warn("a theme has no coins", "theme", theme.key)
			continue
		}
		if err := m.Themes(ctx, list); err != nil {
			return source.OfSink(err)
		}
	}
	return failed
}
