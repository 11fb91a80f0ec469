package feeds

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/api/apitest"
	"quotary/shared/aws/awsclient"
	"quotary/shared/catalog"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
	"quotary/shared/store/schema"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// distributorKeys is a distributor with a key that may connect and one that was revoked.
type distributorKeys struct{ distributor, good, revoked string }

// ofEach reads the keys of each distributor with a client of its own, which counts, while all
// of them share the retries of one.
type ofEach func(distributor string) *keys.Store

func (of ofEach) Statuses(ctx context.Context, distributor string, accessKeys []string) (map[string]keys.Status, error) {
	return of(distributor).Statuses(ctx, distributor, accessKeys)
}

// TestThrottledKeysOfSomeKeepNobodyElsesRevokedConnectionsOpen reads keys by DynamoDB's rules
// and in virtual time while those of more distributors are throttled than are read at a time.
func TestThrottledKeysOfSomeKeepNobodyElsesRevokedConnectionsOpen(t *testing.T) {
	t.Parallel()
	const loud, quiet = atOnce + 2, 3
	w := apitest.New(t, "feeds")
	register := func() distributorKeys {
		of := w.Register(t, keys.Preset{Name: "Acme", Level: "all", MaxSubKeys: 2})
		must.Do(t, w.Keys.PutLevel(t.Context(), of.AccessKey, "all", keys.Allow(catalog.Actions()...)))
		quota := int64(1)
		d := distributorKeys{of.AccessKey,
			w.Issue(t, of, keys.NewSubKey{Name: "good", MonthlyQuota: &quota}).AccessKey,
			w.Issue(t, of, keys.NewSubKey{Name: "revoked", MonthlyQuota: &quota}).AccessKey}
		must.Do(t, w.Keys.SetActive(t.Context(), d.distributor, []string{d.revoked}, false))
		return d
	}
	throttled, others := make([]distributorKeys, loud), make([]distributorKeys, quiet)
	for i := range throttled {
		throttled[i] = register()
	}
	for i := range others {
		others[i] = register()
	}
	isLoud := func(distributor string) bool {
		return slices.ContainsFunc(throttled, func(d distributorKeys) bool { return d.distributor == distributor })
	}
	config := must.Get(awsclient.Load(t.Context(), time.Minute))(t)
	engine := dynamodb.New(w.DB.Options(), func(o *dynamodb.Options) { o.Retryer = config.Retryer() })
	rules := awsrules.New(t)
	rules.ReadUnits = 0.05 // whoever has read once is throttled for ten seconds

	synctest.Test(t, func(t *testing.T) {
		var ofLoud, ofQuiet awsrules.Counts
		open := func(own *awsrules.Counts) *keys.Store {
			return keys.New(rules.DynamoDBOf(engine, own), w.Prefix+schema.KeysTable, nil, time.Now)
		}
		loudStore, quietStore := open(&ofLoud), open(&ofQuiet)
		var log bytes.Buffer
		f := New(Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Keys: ofEach(func(distributor string) *keys.Store {
			if isLoud(distributor) {
				return loudStore
			}
			return quietStore
		})})
		revoked := func(of ...distributorKeys) (ids []string) {
			for _, d := range of {
				ids = append(ids, d.revoked)
			}
			return slices.Sorted(slices.Values(ids))
		}
		for _, d := range slices.Concat(throttled, others) {
			for _, key := range []string{d.good, d.revoked} {
				f.clients[key] = &client{Connection: connections.Connection{ID: key, Key: key, Distributor: d.distributor, Feed: channel.FeedChannels, Seen: time.Now()}}
			}
		}
		for _, d := range throttled {
			must.Get(loudStore.Statuses(t.Context(), d.distributor, []string{d.good, d.revoked}))(t)
		}
		looked := time.Now()
		f.sweepKeys(t.Context())
		if took := time.Since(looked); took > 2*keysWait+time.Second/10 {
			t.Errorf("the look took %s", took)
		}
		if got := slices.Sorted(maps.Keys(f.removals.pending)); !slices.Equal(got, revoked(others...)) {
			t.Errorf("%d connections are closed, want those of the %d revoked keys that are not throttled", len(got), quiet)
		}
		if n := f.KeysUnread(); n != loud {
			t.Errorf("the keys of %d distributors could not be read, want %d", n, loud)
		}
		if want := fmt.Sprint("distributors=", loud, " longest=0s"); !strings.Contains(log.String(), want) || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("no line with %s is logged, or others are: %s", want, log.String())
		}
		if ofQuiet.Throttled > 0 || ofLoud.Throttled == 0 {
			t.Errorf("the others are throttled %d times, the loud ones %d", ofQuiet.Throttled, ofLoud.Throttled)
		}
		time.Sleep(time.Minute)
		f.sweepKeys(t.Context())
		if got := slices.Sorted(maps.Keys(f.removals.pending)); !slices.Equal(got, revoked(slices.Concat(throttled, others)...)) || f.KeysUnread() != 0 {
			t.Errorf("once nobody is throttled, %d connections are closed and the keys of %d distributors are not read", len(got), f.KeysUnread())
		}
	})
}
