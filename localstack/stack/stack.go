// Package stack runs the whole product on one machine: a DynamoDB engine, an
// S3, the functions behind a gateway, the ingester, and a simulated venue, exchanges and
// publisher of news, each as close to its deployed form as a laptop allows.
//
// The functions and the ingester are the same programs that a deployment
// builds, run as processes of their own. What they need they get through
// environment variables, exactly as there.
package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"quotary/localstack/aws/lambdahost"
	"quotary/localstack/client"
	"quotary/localstack/sim/announcements"
	"quotary/localstack/sim/binance"
	"quotary/localstack/sim/bybit"
	"quotary/localstack/sim/coinsite"
	"quotary/localstack/sim/flashsite"
	"quotary/localstack/sim/newssite"
	"quotary/localstack/sim/okx"
	"quotary/localstack/sim/venue"
)

// Config says where a stack lives and what it runs.
type Config struct {
	Port     int    // of the API; the other services take the ports after it. 0 picks free ports
	Data     string // folder of everything the stack keeps
	Programs string // folder of the built functions and the ingester
	Tools    string // folder of the DynamoDB engine as npm installs it
	Progress io.Writer

	DynamoDB string // endpoint of another DynamoDB, which others may use too; empty for the stack's own
	Upstream string // "simulated" (default), "hyperliquid" or "none"
	Sources  string // "chosen" (default): those that the environment sets; or "free": with Upstream "hyperliquid" all that take no money and no key, but for those that it sets
	Node     string // "simulated" (default), or "none": then the ingester follows no node's files, but the hours that the venue publishes
	Seed     uint64 // of the simulated venue
	History  int    // days of history that the simulated venue lays down first
	MaxEach  int    // most processes of one function, 0 for the default

	// Parallel has messages of one WebSocket connection carried out at once, as on AWS.
	Parallel bool

	// Retention is for how long rows of log datasets can be read, as in
	// "fills=90d,orders=30d"; empty is for ever.
	Retention string

	// SourcesWithin is how long a start waits for sources that have not said anything; 0
	// means a minute.
	SourcesWithin time.Duration

	// Ingesters is how many run: one works, the others stand by. 0 means one.
	Ingesters int

	// FunctionEnv is added to the environment of every function, IngesterEnv to
	// that of the ingester.
	FunctionEnv, IngesterEnv []string
}

// State is what a running stack publishes, in stack.json of its folder.
type State struct {
	BaseURL    string   `json:"base_url"`    // of the HTTPS endpoints, ends with /api
	WSBaseURL  string   `json:"ws_base_url"` // of the WebSocket feeds
	LambdaURL  string   `json:"lambda_url"`  // of the Lambda Invoke API
	Demo       Demo     `json:"demo"`
	DataDir    string   `json:"data_dir"`
	VenueURL   string   `json:"venue_url,omitempty"`   // of the simulated venue
	FollowsURL string   `json:"follows_url,omitempty"` // of the venue that is followed, simulated or not
	NewsURL    string   `json:"news_url,omitempty"`    // of the simulated publisher of news, and of what exchanges announce
	BinanceURL string   `json:"binance_url,omitempty"` // of the simulated exchange
	OKXURL     string   `json:"okx_url,omitempty"`     // of the second one
	BybitURL   string   `json:"bybit_url,omitempty"`   // of the third one
	CoinsURL   string   `json:"coins_url,omitempty"`   // of the simulated source of prices of coins, exchange rates and indexes
	Ingesters  []string `json:"ingester_urls"`         // of their health
	DynamoDB   string   `json:"dynamodb_url"`
	Tables     string   `json:"table_prefix"` // of the names of this stack's tables
	S3         string   `json:"s3_url"`
	Retention  string   `json:"retention,omitempty"` // of the log datasets
	Process    int      `json:"pid"`
}

// Demo is a distributor that may everything, and a sub-key of its own.
type Demo struct {
	Primary client.Key `json:"primary"`
	SubKey  client.Key `json:"sub_key"`
}

// Names of the deployment that the stack imitates.
const (
	tablePrefix = "quotary-" // in an engine of the stack's own
	viewsBucket = "quotary-views"
	region      = "us-east-1"
)

// StateFile is the name of the file that a ready stack writes into its folder.
const StateFile = "stack.json"

// Stack is a running stack.
type Stack struct {
	State         State
	Venue         *venue.Venue        // nil with another upstream
	News          *newssite.Site      // the same
	Announcements *announcements.Site // the same
	Exchange      *binance.Exchange   // the same
	OKX           *okx.Exchange       // the same
	Bybit         *bybit.Exchange     // the same
	Flashes       []flashsite.Flash   // the drop that the stack began with
	Coins         *coinsite.Site      // the same

	cfg     Config
	log     *slog.Logger
	host    *lambdahost.Host
	stops   []func(context.Context) error // undone in reverse
	failure chan error                    // a part that ended by itself
}

// Start starts everything and returns when what happened before is written, what
// happens now is followed, and every built endpoint has something to answer. On an
// error everything that was started has ended again.
func Start(ctx context.Context, cfg Config) (*Stack, error) {
	if cfg.Progress == nil {
		cfg.Progress = io.Discard
	}
	data, err := filepath.Abs(cfg.Data)
	if err != nil {
		return nil, err
	}
	cfg.Data = data
	s := &Stack{cfg: cfg, failure: make(chan error, 8)}
	s.State.DataDir, s.State.Retention = data, cfg.Retention
	s.State.Process = os.Getpid()
	if err := s.start(ctx); err != nil {
		stopping, done := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer done()
		return nil, errors.Join(err, s.Stop(stopping))
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.folders(); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"database", s.startDynamoDB},
		{"objects", s.startS3},
		{"tables", s.createTables},
		{"venue", s.startVenue}, // which functions ask too
		{"functions", s.startFunctions},
		{"gateway", s.startGateway},
		{"news", s.startNews},
		{"exchange", s.startExchange},
		{"coins", s.startCoins},
		{"airdrops", s.startAirdrops},
		{"treasuries", s.startTreasuries},
		{"other venues", s.startOtherVenues},
		{"flashes", s.startFlashes},
		{"ingester", s.startIngesters},
		{"demo keys", s.registerDemo},
		{"prices", s.awaitPrices},
		{"data", s.awaitData},
		{"answers", s.awaitAnswers},
	} {
		started := time.Now()
		err := step.run(ctx)
		if errors.Is(err, errGoesOn) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(s.cfg.Progress, "  %-12s ready (%d ms)\n", step.name, time.Since(started).Milliseconds())
	}
	return s.writeState()
}

// Wait returns when ctx ends, with nil, or when a part of the stack has ended
// by itself, with the reason.
func (s *Stack) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failure:
		return err
	}
}

// Stop ends every part, the last started first, and waits for it.
func (s *Stack) Stop(ctx context.Context) error {
	var faults []error
	for len(s.stops) > 0 {
		stop := s.stops[len(s.stops)-1]
		s.stops = s.stops[:len(s.stops)-1]
		faults = append(faults, stop(ctx))
	}
	return errors.Join(faults...)
}

// onStop has a part ended by Stop.
func (s *Stack) onStop(stop func(context.Context) error) { s.stops = append(s.stops, stop) }
