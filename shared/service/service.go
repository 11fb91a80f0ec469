// Package service opens what a function runs on: its settings, the clients of
// AWS, the gate and the log. A function's main opens it once, at the cold
// start, and registers its handlers.
package service

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"quotary/shared/api"
	"quotary/shared/aws/awsclient"
	"quotary/shared/aws/metrics"
	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/usage"
	"quotary/shared/service/config"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
)

// attemptTimeout bounds one try of a request to AWS; the client repeats a
// failed one twice, with jitter, within the function's own deadline.
const attemptTimeout = 3 * time.Second

// Service is an opened function.
type Service struct {
	Name    string
	Env     config.Env
	Logger  *slog.Logger
	Metrics *metrics.Writer // nil where the deployment asks for none
	Clock   func() time.Time

	AWS aws.Config // for clients that only one function has

	program   catalog.Program
	prefix    string // of the tables
	retention retention.Setting
}

// Open reads the settings that every function needs. Settings are faulty until
// [Service.Err] has been asked, after the last of them was read.
func Open(ctx context.Context, name string) (*Service, error) {
	program, ok := catalog.ProgramOf(name)
	if !ok {
		return nil, fmt.Errorf("the catalog declares no program %q", name)
	}
	limitMemory()
	s := &Service{
		Name: name, program: program,
		Logger: slog.New(slog.NewJSONHandler(os.Stdout, nil)).With("function", name),
		Clock:  time.Now,
	}
	s.Metrics = metrics.New(os.Stdout, s.Env.Optional(catalog.EnvMetrics, ""), s.Clock)
	s.Metrics.Count(metrics.ColdStarts, metrics.Label{Name: metrics.Function, Value: name})
	s.prefix = s.Env.String(catalog.EnvTablePrefix, "what the names of this deployment's tables begin with")
	var err error
	if s.retention, err = retention.Parse(s.Env.Optional(catalog.EnvRetention, "")); err != nil {
		return nil, fmt.Errorf("%s: %w", catalog.EnvRetention, err)
	}
	if s.AWS, err = awsclient.Load(ctx, attemptTimeout); err != nil {
		return nil, err
	}
	return s, s.Env.Err()
}

// memoryShare is how much of its memory a function may fill before garbage is collected at any price, in
// percent.
const memoryShare = 80

// limitMemory keeps what is garbage from ending the process: else there may be as much of it as of all
// else.
func limitMemory() {
	if megabytes, err := strconv.ParseInt(os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 64); err == nil && megabytes > 0 {
		debug.SetMemoryLimit(megabytes << 20 * memoryShare / 100)
	}
}

// DynamoDB returns the client of the tables, which keeps to what a request may read. A
// function makes one.
func (s *Service) DynamoDB() *dynamodb.Client { return awsclient.DynamoDB(s.AWS, readunits.Meter) }

// Table returns the full name of a table of this deployment.
func (s *Service) Table(name string) string { return s.prefix + name }

// Views returns the reader of published views.
func (s *Service) Views() (*store.Views, error) {
	bucket := s.Env.String(catalog.EnvViewsBucket, "the bucket that the ingester publishes views to")
	if err := s.Env.Err(); err != nil {
		return nil, err
	}
	return store.NewViews(awsclient.S3(s.AWS), bucket), nil
}

// Keys opens the key store with its ring of data keys.
func (s *Service) Keys(ctx context.Context, db *dynamodb.Client) (*keys.Store, error) {
	var source keys.Source
	if path := s.Env.Optional(catalog.EnvDataKeysFile, ""); path != "" {
		source = keys.File(path)
	} else {
		wrapped := s.Env.String(catalog.EnvDataKeys, "the data keys that seal secrets, wrapped by KMS (or QUOTARY_DATA_KEYS_FILE with plain ones on a local stack)")
		if err := s.Env.Err(); err != nil {
			return nil, err
		}
		source = keys.KMS(kms.NewFromConfig(s.AWS), wrapped)
	}
	ring, err := keys.OpenRing(ctx, source)
	if err != nil {
		return nil, err
	}
	return keys.New(db, s.Table(schema.KeysTable), ring, s.Clock), nil
}

// Counters returns the counters of requests.
func (s *Service) Counters(db *dynamodb.Client) *usage.Counters {
	return usage.NewCounters(db, s.Table(schema.UsageTable), s.Clock)
}

// shares returns what the requests of one distributor may read of the data that all read.
func (s *Service) shares(db *dynamodb.Client) *readunits.Shares {
	return readunits.NewShares(db, s.Table(schema.UsageTable), s.Table(schema.LogTable), s.Table(schema.SeriesTable))
}

// Gate returns the gate over the key store.
func (s *Service) Gate(db *dynamodb.Client, keyStore *keys.Store) (*admission.Gate, error) {
	gate := &admission.Gate{Keys: keyStore, Counters: s.Counters(db), Clock: s.Clock}
	if s.Env.Bool(catalog.EnvReplayProtection, true, "whether a nonce is accepted only once") {
		gate.Nonces = usage.NewNonces(db, s.Table(schema.UsageTable), s.Clock)
	}
	return gate, s.Env.Err()
}

// Opened is what the function of a family runs on.
type Opened struct {
	*Service
	DB       *dynamodb.Client
	KeyStore *keys.Store // nil where the catalog says that the function needs no secrets
	Family   *api.Family
}

// Log returns the table of logs: immutable rows of market data, of the time for which
// this deployment retains them.
func (o *Opened) Log() *store.Log {
	log := store.NewLog(o.DB, o.Table(schema.LogTable))
	log.Retention, log.Now = o.retention, o.Clock
	return log
}

// Series returns the table of series: market data by time bucket. A request may see what
// was written a moment ago or not yet, so reads are eventually consistent, and it is given up
// rather than held where the table is short of capacity.
func (o *Opened) Series() *store.Series {
	series := store.NewSeries(o.DB, o.Table(schema.SeriesTable))
	series.Eventual, series.Awaited = true, true
	return series
}

// Documents returns the documents of a kind.
func (o *Opened) Documents(kind string, limits store.DocumentLimits) *store.Documents {
	return store.NewDocuments(o.DB, o.Table(schema.DocumentsTable), kind, limits)
}

// Family returns the handler of a family's function, for lambda.Start: register
// ties the family's handlers to its endpoints. The process ends with one log line
// where that fails, or where a built endpoint has no handler.
func Family(name catalog.Family, register func(o *Opened) error) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	var family *api.Family
	var log *slog.Logger
	Run(string(name), func(ctx context.Context, s *Service) error {
		o, err := s.family(ctx)
		if err != nil {
			return err
		}
		if err := register(o); err != nil {
			return err
		}
		family, log = o.Family, o.Logger
		return family.Complete()
	})
	return api.Lambda(family, log)
}

func (s *Service) family(ctx context.Context) (*Opened, error) {
	o := &Opened{Service: s, DB: s.DynamoDB()}
	var err error
	gate := &admission.Gate{Counters: s.Counters(o.DB), Clock: s.Clock}
	if s.program.Secrets {
		if o.KeyStore, err = s.Keys(ctx, o.DB); err != nil {
			return nil, err
		}
		if gate, err = s.Gate(o.DB, o.KeyStore); err != nil {
			return nil, err
		}
	}
	if slices.Contains(s.program.Environment(), catalog.EnvManagementRate) {
		gate.ManagementRate = s.Env.Number(catalog.EnvManagementRate, 600, "how many management requests of a primary key are admitted in a minute, 0 for any number")
		if err := s.Env.Err(); err != nil {
			return nil, err
		}
	}
	o.Family = api.New(s.Name, gate, s.Logger)
	o.Family.Metrics = s.Metrics
	o.Family.Shares = s.shares(o.DB)
	if slices.ContainsFunc(catalog.Served(s.Name), func(e *catalog.Endpoint) bool { return len(e.Needs) > 0 }) {
		views, err := o.Views()
		if err != nil {
			return nil, err
		}
		o.Family.Delivered = delivered.Open(views, s.Clock)
	}
	return o, nil
}

// Run runs a function's start and ends the process with one log line when it
// fails.
func Run(name string, start func(ctx context.Context, s *Service) error) {
	ctx := context.Background()
	s, err := Open(ctx, name)
	if err == nil {
		err = start(ctx, s)
	}
	if err != nil {
		slog.New(slog.NewJSONHandler(os.Stdout, nil)).Error("start failed", "function", name, "err", err.Error())
		os.Exit(1)
	}
}
