package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
	"quotary/shared/aws/awsclient"
	"quotary/shared/catalog"
	"quotary/shared/service/config"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
)

// settings are read from the environment; the AWS SDK reads its own AWS_*.
type settings struct {
	prefix  string   // QUOTARY_TABLE_PREFIX, of the tables
	bucket  string   // QUOTARY_VIEWS_BUCKET, of views and quarantined rows
	domains []string // QUOTARY_DOMAINS, which this process runs: a list separated by commas; all of them if not set
	address string   // QUOTARY_INGESTER_ADDR, of the health listener
	name    string   // QUOTARY_INGESTER_NAME, of this process in the leases; "" for one that no other process has
	metrics string   // QUOTARY_METRICS, the deployment under which metrics are written; "" writes none

	retention retention.Setting // QUOTARY_RETENTION, for how long rows of logs can be read; for ever if not set

	configured map[string]configured // each domain
}

func readSettings() (settings, error) {
	var env config.Env
	s := settings{
		domains: list(env.Optional(catalog.EnvDomains, strings.Join(domainNames(), ","))),
		prefix:  env.String(catalog.EnvTablePrefix, "what the names of this deployment's tables begin with"),
		bucket:  env.String(catalog.EnvViewsBucket, "the bucket that views are published to"),
		address: env.Optional(catalog.EnvIngesterAddr, "127.0.0.1:0"),
		metrics: env.Optional(catalog.EnvMetrics, ""),
		name:    env.Optional(catalog.EnvIngesterName, ""),

		configured: map[string]configured{},
	}
	for name, settings := range domains {
		s.configured[name] = settings(&env)
	}
	for _, name := range s.domains {
		if domains[name] == nil {
			return s, fmt.Errorf("%s names %q, which is no domain: it takes a list of %s, separated by commas", catalog.EnvDomains, name, strings.Join(domainNames(), ", "))
		}
	}
	var err error
	if s.retention, err = retention.Parse(env.Optional(catalog.EnvRetention, "")); err == nil {
		err = s.retention.Only(archivedLogs())
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", catalog.EnvRetention, err)
	}
	return s, env.Err()
}

// list reads names that are separated by commas, each once.
func list(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// attemptTimeout bounds one try of a request to AWS. Batches are larger than
// what functions send, and nobody waits for them.
const attemptTimeout = 8 * time.Second

// clients are those of AWS, or of what AWS_ENDPOINT_URL_* put in its place.
type clients struct {
	config   aws.Config
	dynamodb *dynamodb.Client
	s3       *s3.Client
}

func openClients(ctx context.Context) (clients, error) {
	config, err := awsclient.Load(ctx, attemptTimeout)
	return clients{config: config, dynamodb: awsclient.DynamoDB(config), s3: awsclient.S3(config)}, err
}

// ingester is what a process has ready while it stands by: settings, and clients
// that are connected to the tables.
type ingester struct {
	settings
	clients
	stores engine.Stores
	log    *slog.Logger
}

// open reads the settings and opens the stores.
func open(ctx context.Context) (*ingester, error) {
	s, err := readSettings()
	if err != nil {
		return nil, err
	}
	c, err := openClients(ctx)
	if err != nil {
		return nil, err
	}
	log := store.NewLog(c.dynamodb, s.prefix+schema.LogTable)
	log.Retention = s.retention
	return &ingester{settings: s, clients: c, log: slog.New(slog.DiscardHandler), stores: engine.Stores{
		Log:        log,
		Series:     store.NewSeries(c.dynamodb, s.prefix+schema.SeriesTable),
		Views:      store.NewViews(c.s3, s.bucket),
		Quarantine: engine.Quarantine{Objects: c.s3, Bucket: s.bucket},
		Archive:    archive.Files{Objects: c.s3, Bucket: s.bucket},
	}}, nil
}
