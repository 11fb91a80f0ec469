package perp

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/data/followrequests"
	"quotary/shared/market"
	"quotary/shared/service/config"
	"quotary/shared/store/retention"
)

// Name is that of the domain.
const Name = "perp"

// Config is what the domain follows and where it writes.
type Config struct {
	Stores engine.Stores
	Logger *slog.Logger

	NodeDir    string            // data folder of a node; "" follows none
	NodeBehind time.Duration     // by so much, the node is not up to date
	AllOrders  bool              // keep every status of an order that the node writes, not only those that were filled
	URL        string            // of the public API; "" follows none
	Info       *hyperliquid.Info // client of the same: one budget for all who ask it; nil without
	Retention  retention.Setting // of the logs

	Provisional bool                   // public trades are fills of their accounts at once
	HoursOf     HoursSettings          // of the venue's hours
	Hours       hyperliquid.HourBucket // where they are; nil reads none
	holes       *nodeHoles             // of the node's files, that hours fill; nil looks for none
	hoursPoll   time.Duration          // between questions for them; 0 means what they have by themselves

	NodeInfo     *hyperliquid.Info     // of the node's own info endpoint, which has no limits; nil without
	Wanted       *followrequests.Store // the accounts that clients ask for; nil without
	AnchorWeight int                   // how much of the public API's weight a minute is spent on accounts
	AnchorValue  int                   // from so much on an account is anchored though nobody follows it, USDC

	SpoolDir string // folder of recorded files to consume; "" takes none

	// Feeds makes what the domain's events are shown to for one term of its lease,
	// nil where there is nobody. Without the function there never is. The channel is
	// closed when what happened before the term can be read from the stores.
	Feeds func(ctx context.Context, stores engine.Stores, term *lease.Term, pastRead <-chan struct{}) (*Feeds, error)
}

// Settings reads the domain's part of the environment. Most statuses of orders are of
// orders that are opened and canceled without a trade: all of a busy venue's are
// thousands a second, each of which costs three or four writes.
func Settings(env *config.Env) Config {
	c := Config{
		NodeDir: env.Text(catalog.EnvNodeDir), NodeBehind: env.Duration(catalog.EnvNodeBehind), AllOrders: env.Text(catalog.EnvOrders) == "all",
		URL: env.Text(catalog.EnvHyperliquidURL), SpoolDir: env.Text(catalog.EnvSpoolDir),
		AnchorWeight: env.Int(catalog.EnvAnchorWeight), AnchorValue: env.Int(catalog.EnvAnchorValue),
	}
	c.HoursOf = hoursSettings(env)
	c.Provisional = env.Text(catalog.EnvAccounts) != catalog.AccountsOff && c.NodeDir == ""
	if url := env.Text(catalog.EnvNodeInfoURL); url != "" {
		c.NodeInfo = hyperliquid.NewNodeInfo(url)
	}
	if info, err := os.Stat(c.NodeDir); err == nil && !info.IsDir() {
		env.Refuse(catalog.EnvNodeDir, fmt.Errorf("is no folder: %s", c.NodeDir))
	}
	return c
}

// Feeds are shown what the sources emit and what becomes of it.
type Feeds struct {
	// Tap is a sink that looks at deliveries and passes on what is to be stored.
	// Checkpointed ones are passed on with nothing to store too.
	Tap func(next hyperliquid.Sink, checkpointed bool) hyperliquid.Sink
	// Past looks at what was missed before the term, up to a time (ms): from then on it
	// comes through Tap.
	Past func(ctx context.Context, e *market.Events, until int64)
	// Hour looks at an hour of the venue before it is stored, which may be one of long ago.
	Hour    func(ctx context.Context, e *market.Events, old bool) error
	Applied func(e *market.Events, f *Folded) // called behind the projections
	Run     func(context.Context) error
	Figures func() []engine.Figure
	// Accounts are the addresses that are followed.
	Accounts func() followrequests.List[string]
}

// Domain returns the domain for a process to run.
func (c Config) Domain(host engine.Host) engine.Domain {
	c.Stores, c.Logger, c.Retention = host.Stores, host.Logger, host.Retention
	rank := &ranking{dir: c.NodeDir, behind: c.NodeBehind}
	return engine.Domain{Name: Name, Rank: rank.now, Watch: rank.watch, Begin: c.begin}
}

// begin makes the pipeline of one term.
func (c Config) begin(ctx context.Context, term *lease.Term) (engine.Work, error) {
	c.Stores = c.Stores.Under(term)
	var wanted *wantedAccounts
	if c.Info != nil || c.NodeInfo != nil {
		wanted = newWantedAccounts(c.AnchorValue)
	}
	accounts := newAccountStates(wanted, c.Logger)
	accounts.baseEvery = baseEvery(c.Retention)
	accounts.told = c.Provisional && c.Hours == nil
	var liquidated liquidationCounts
	orders, twaps, asked := newOpenOrders(wanted), newTwapOrders(), newVaultQuestions()
	projections, klines := projections(accounts, orders, twaps, asked, &liquidated)
	accounts.held.late = c.Provisional
	p := &engine.Pipeline[*Batch]{Domain: Name, Stores: c.Stores, NewBatch: NewBatch, Logs: c.logs(), Projections: projections, Holds: holds, Retention: c.Retention, Logger: c.Logger, Term: term}
	var feeds *Feeds
	if c.Feeds != nil {
		var err error
		if feeds, err = c.Feeds(ctx, c.Stores, term, p.PastRead()); err != nil {
			return nil, err
		}
	}
	if feeds != nil {
		folded := &Folded{klines, accounts, orders}
		p.Applied = func(b *Batch) { feeds.Applied(&b.Events, folded) }
		p.Beside = feeds.Run
	}
	hours := c.venueHours()
	if hours != nil && c.NodeDir != "" {
		c.holes = &nodeHoles{series: c.Stores.Series}
	}
	p.Figures = func() []engine.Figure {
		figures := append(append(accounts.figures.figures(wanted), hoursFigures(hours)...),
			engine.Figure{Name: metrics.LiquidationsLeftOut, Unit: metrics.Count, Value: liquidated.leftOut.Load(), Grows: true},
			engine.Figure{Name: metrics.LiquidationsUnknown, Unit: metrics.Count, Value: liquidated.unknown.Load(), Grows: true},
			engine.Figure{Name: metrics.TwapsLeftOut, Unit: metrics.Count, Value: twaps.leftOut.Load(), Grows: true},
			engine.Figure{Name: metrics.VaultsLeftOut, Unit: metrics.Count, Value: asked.leftOut.Load(), Grows: true},
			engine.Figure{Name: metrics.PositionsLeftOut, Unit: metrics.Count, Value: accounts.held.leftOut.Load()},
			engine.Figure{Name: metrics.TradesLeftOut, Unit: metrics.Count, Value: klines.leftOut.Load(), Grows: true},
			engine.Figure{Name: metrics.TailsLeftOut, Unit: metrics.Count, Value: accounts.held.noRoom.Load(), Grows: true})
		if feeds == nil {
			return figures
		}
		return append(feeds.Figures(), figures...)
	}
	p.Parts = func() map[string]map[string]string {
		if covered := accounts.held.covered.Load(); covered != nil {
			return map[string]map[string]string{"coverage": *covered}
		}
		return nil
	}
	p.Sources = c.sources(feeds, hours)
	switch {
	case c.holes != nil:
		p.Sources = append(p.Sources, c.holesSource(hours, feeds))
	case hours != nil:
		p.Sources = append(p.Sources, hoursSource(hours, feeds))
	}
	if wanted != nil {
		p.Sources = append(p.Sources, c.anchors(wanted, feeds))
	}
	if c.Info != nil {
		p.Sources = append(p.Sources, c.vaults(asked))
	}
	if c.SpoolDir != "" {
		spool := newSpool(c.Stores, c.SpoolDir)
		spool.Logger = c.Logger
		p.Sources = append(p.Sources, spool.Source())
	}
	return p, nil
}

// follow makes a source with positions of one of the package hyperliquid.
func follow(f func(context.Context, hyperliquid.Position, hyperliquid.Sink) error) func(context.Context, engine.Position, engine.Sink[*Batch]) error {
	return func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
		var at hyperliquid.Position
		if err := from.Decode(&at); err != nil {
			return err
		}
		return f(ctx, at, toBatches(sink, true))
	}
}

// toBatches is a sink of the venue's deliveries before one of the domain's.
func toBatches(sink engine.Sink[*Batch], positions bool) hyperliquid.Sink {
	return func(ctx context.Context, d hyperliquid.Delivery) error {
		delivery := engine.Delivery[*Batch]{Batch: &Batch{Events: d.Events}}
		if positions {
			position, err := engine.PositionOf(d.Position)
			if err != nil {
				return err
			}
			delivery.Position = position
		}
		return sink(ctx, delivery)
	}
}
