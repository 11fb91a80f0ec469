package exchange

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/data/alerts"
	"quotary/shared/data/followrequests"
	"quotary/shared/service/config"
)

// Name is that of the domain.
const Name = "exchange"

// Config is what the domain follows and where it writes.
type Config struct {
	Stores engine.Stores
	Logger *slog.Logger

	Exchanges []string              // by their names in venues.go; empty follows none
	Coins     []string              // whose pairs with USDT are followed, spot and perpetual, in upper case
	Books     []string              // coins whose order books are followed, likewise; empty follows none
	Depth     Depth                 // how much of the past is kept
	Refresh   time.Duration         // between writes of the rows of open buckets
	ListEvery time.Duration         // between two looks at what pairs trade; 0 means an hour
	URLs      map[string]string     // where exchanges are simulated, by name; others are followed at their public addresses
	Wanted    *followrequests.Store // of [followrequests.Pairs]: pairs whose K-lines clients ask for; nil where there are none
	Alerts    *alerts.Store         // of sub-keys; nil where there are none
	Keys      Keys                  // says of whom alerts rest
}

// Settings reads the domain's part of the environment.
func Settings(env *config.Env) Config {
	urls := make(map[string]string, len(exchanges))
	for name, x := range exchanges {
		urls[name] = env.Text(x.url)
	}
	return Config{
		Exchanges: names(env.Text(catalog.EnvExchanges)),
		Coins:     names(strings.ToUpper(cmp.Or(env.Text(catalog.EnvExchangeCoins), mostTraded))),
		Books:     booksOf(env.Text(catalog.EnvExchangeBooks)),
		Depth: Depth{
			Minutes: env.Int(catalog.EnvExchangeMinutes),
			Hours:   env.Int(catalog.EnvExchangeHours),

			Contracts: env.Int(catalog.EnvExchangeContracts),
		},
		Refresh: env.Duration(catalog.EnvExchangeRefresh),
		URLs:    urls,
	}
}

// noBooks is the setting that follows none.
const noBooks = "none"

// booksOf reads the coins whose books are followed.
func booksOf(setting string) []string {
	if strings.EqualFold(setting, noBooks) {
		return nil
	}
	return names(strings.ToUpper(setting))
}

func (c Config) listEvery() time.Duration { return cmp.Or(c.ListEvery, time.Hour) }

// mostTraded are the 30 coins with the most volume against USDT on Binance, spot and
// perpetual together, without stable coins, in no order.
const mostTraded = "BTC,ETH,SOL,XRP,DOGE,BNB,ADA,SUI,LINK,AVAX," +
	"TRX,LTC,DOT,BCH,UNI,NEAR,APT,AAVE,FIL,ETC," +
	"ARB,OP,WIF,PEPE,SHIB,HBAR,XLM,INJ,TAO,ENA"

// names reads a list that is separated by commas.
func names(list string) (all []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Domain returns the domain for a process to run.
func (c Config) Domain(host engine.Host) engine.Domain {
	c.Stores, c.Logger = host.Stores, host.Logger
	return engine.Domain{Name: Name, Begin: c.begin}
}

// bookGaps is how often books were lost, of all sources of them.
func bookGaps(sources []engine.Source[*Batch]) (gaps int64) {
	for _, s := range sources {
		if strings.HasSuffix(s.Name, booksSource) {
			gaps += s.Stats.Gaps.Load()
		}
	}
	return gaps
}

// begin makes the pipeline of one term.
func (c Config) begin(_ context.Context, term *lease.Term) (engine.Work, error) {
	followed, err := c.venues()
	if err != nil {
		return nil, err
	}
	var left leftOut
	p := &engine.Pipeline[*Batch]{
		Domain: Name, Stores: c.Stores.Under(term), NewBatch: NewBatch, Projections: projections(c.Refresh, &left), Holds: holds, Logger: c.Logger, Term: term,
	}
	p.Figures = func() []engine.Figure {
		unknown := int64(0)
		for _, v := range followed {
			unknown += v.UnknownMarkets()
		}
		return []engine.Figure{
			{Name: metrics.UnknownMarkets, Unit: metrics.Count, Value: unknown},
			{Name: metrics.BookGaps, Unit: metrics.Count, Value: bookGaps(p.Sources), Grows: true},
			{Name: metrics.LiquidationsLeftOut, Unit: metrics.Count, Value: left.liquidations.Load(), Grows: true},
			{Name: metrics.AlertsNotInForce, Unit: metrics.Count, Value: left.alerts.Load()},
			{Name: metrics.LargeOrderEventsLate, Unit: metrics.Count, Value: left.largeLate.Load(), Grows: true},
			{Name: metrics.LargeOrdersLeftOut, Unit: metrics.Count, Value: left.largeRefused.Load(), Grows: true},
			{Name: metrics.ChangesLeftOut, Unit: metrics.Count, Value: left.changes.Load(), Grows: true},
		}
	}
	wanted := c.wanted()
	coins := &coinsPast{pastSpans: c.pastSpans()}
	for _, v := range followed {
		lists := c.lister(v)
		p.Sources = append(p.Sources, c.sources(v, lists, wanted)...)
		if of, ok := v.Venue.(Contracts); ok && v.Swap {
			past := &contractsPast{pastSpans: c.pastSpans(), venue: patient(v, of), lists: lists, wanted: wanted}
			p.Sources = append(p.Sources, engine.Source[*Batch]{
				Name: v.Name + " perpetuals history", Stats: past.stats, Background: true, Follow: past.follow,
				Brings: v.brings(catalog.ExchangeFunding, catalog.ExchangeInterest, catalog.ExchangeRatios),
			})
			coins.venues = append(coins.venues, listedVenue{patient(v, of), lists})
		}
	}
	if len(coins.venues) > 0 {
		p.Sources = append(p.Sources, engine.Source[*Batch]{Name: "perpetuals history", Stats: coins.stats, Background: true, Follow: coins.follow})
	}
	if c.Alerts != nil && len(followed) > 0 {
		watch := c.alertWatch()
		watch.beyond = &left.alerts
		p.Sources = append(p.Sources, engine.Source[*Batch]{Name: "alerts", Stats: watch.stats, Follow: watch.follow})
	}
	if len(followed) > 0 {
		watch := c.strategyWatch()
		p.Sources = append(p.Sources, engine.Source[*Batch]{Name: "strategies", Stats: watch.stats, Background: true, Follow: watch.follow})
	}
	return p, nil
}
