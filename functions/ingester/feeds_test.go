package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/perp"
	"quotary/shared/aws/metrics"
	"quotary/shared/service/config"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

// TestADomainIsMadeWithoutAskingTheStores, which are asked for the table of
// connections when a term begins: a fault there is an error of that term, and a
// missing table is said once.
func TestADomainIsMadeWithoutAskingTheStores(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	asked := 0
	var fault error
	faulty := storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		if asked++; fault != nil {
			return (*dynamodb.DescribeTableOutput)(nil), fault
		}
		return send()
	})
	var log bytes.Buffer
	i := &ingester{settings: settings{prefix: prefix}, clients: clients{dynamodb: faulty}, log: slog.New(slog.NewJSONHandler(&log, nil))}
	for _, name := range domainNames() {
		if domain := domains[name](new(config.Env))(i, engine.Host{}); domain.Name != name || asked > 0 {
			t.Errorf("%s is called %s, and the stores were asked %d times", name, domain.Name, asked)
		}
	}
	begin := i.feedsOf(feedsConfig{}, perp.Config{})
	made := func() (*perp.Feeds, error) {
		t.Helper()
		return begin(context.Background(), i.stores, &lease.Term{}, nil)
	}
	fault = errors.New("no answer")
	if f, err := made(); f != nil || !errors.Is(err, fault) {
		t.Errorf("while the table cannot be looked at: %v, %v", f, err)
	}
	fault, i.prefix = nil, prefix+"other-"
	for range 3 {
		if f, err := made(); f != nil || err != nil {
			t.Errorf("without the table: %v, %v", f, err)
		}
	}
	if n := strings.Count(log.String(), prefix+"other-"+schema.ConnectionsTable); n != 1 || strings.Count(log.String(), "WARN") != 1 {
		t.Errorf("the missing table is named %d times: %s", n, log.String())
	}
	i.prefix = prefix
	f, err := made()
	if f == nil || err != nil {
		t.Fatalf("with the table: %v, %v", f, err)
	}
	var figures []string
	for _, one := range f.Figures() {
		figures = append(figures, one.Name)
	}
	for _, name := range []string{metrics.Connections, metrics.AccountPollsWaiting, metrics.AccountPollWait, metrics.SnapshotsWaiting, metrics.BooksNotJoined, metrics.KeysUnread} {
		if !slices.Contains(figures, name) {
			t.Errorf("no %s among the figures of the feeds: %q", name, figures)
		}
	}
}
