package admission_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/gate/usage"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// TestOneDistributorIsNoHotPartition sends, by DynamoDB's rules and in virtual time, the
// requests of one distributor that the service is made for: 5,000 a second by 10,000
// sub-keys, under every kind of cap. Beside it a neighbour has some requests, none of which
// may be throttled or meet a transaction. All of it, what a partition takes included, is
// divided by scale; with 1 the test takes minutes.
func TestOneDistributorIsNoHotPartition(t *testing.T) {
	t.Parallel()
	const (
		scale     = 25
		subKeys   = 10_000 / scale
		perSecond = 5_000 / scale
		seconds   = 4
		instances = 7 // with no part of subKeys: each request of a sub-key comes to another one
	)
	engine := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, engine)
	ring := must.Get(keys.OpenRing(t.Context(), func(context.Context) (keys.DataKeys, error) {
		return keys.DataKeys{Current: "a", Keys: map[string][]byte{"a": bytes.Repeat([]byte{7}, 32)}}, nil
	}))(t)
	rules := awsrules.New(t)
	rules.ReadUnits /= scale
	rules.WriteUnits /= scale
	store := func(db *dynamodb.Client) *keys.Store { return keys.New(db, prefix+schema.KeysTable, ring, time.Now) }
	issued, neighbour := issue(t, store(engine), subKeys), issue(t, store(engine), 1)[0]

	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour) // virtual time begins with a month, when the end of the last one is read too
		open := func(db *dynamodb.Client) admission.Gate {
			table := prefix + schema.UsageTable
			return admission.Gate{
				Keys: store(db), Nonces: usage.NewNonces(db, table, time.Now),
				Counters: usage.NewCounters(db, table, time.Now), Clock: time.Now,
			}
		}
		gates := make([]admission.Gate, instances)
		warm := func(g *admission.Gate, c credentials) {
			must.Do(t, request(t.Context(), g, c, "warm"))
		}
		for i := range gates {
			gates[i] = open(rules.DynamoDB(engine))
			warm(&gates[i], issued[0])
		}
		var ofNeighbour awsrules.Counts
		quiet := open(rules.DynamoDBOf(engine, &ofNeighbour))
		warm(&quiet, neighbour)
		rules.Take()
		took := make([]time.Duration, perSecond*seconds)
		var all sync.WaitGroup
		for i := range took {
			all.Go(func() {
				began := time.Now()
				if err := request(t.Context(), &gates[i%instances], issued[(i*7919)%subKeys], fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
				took[i] = time.Since(began)
			})
			if i%20 == 0 {
				all.Go(func() {
					if err := request(t.Context(), &quiet, neighbour, fmt.Sprint(i)); err != nil {
						t.Errorf("a neighbour: %v", err)
					}
				})
			}
			time.Sleep(time.Second / perSecond)
		}
		all.Wait()
		slices.Sort(took)
		c := rules.Take()
		n := float64(len(took) + (len(took)+19)/20)
		if ofNeighbour.Throttled > 0 || ofNeighbour.Conflicts > 0 {
			t.Errorf("the neighbour is throttled %d times, and meets %d transactions", ofNeighbour.Throttled, ofNeighbour.Conflicts)
		}
		t.Logf("%.2f reads and %.2f writes a request, p50 %s, p99 %s, %+v", c.Reads/n, c.Writes/n, took[len(took)/2], took[len(took)*99/100], c)
		// The fewer requests, the less evenly chance spreads them: a hot partition would
		// refuse most of them.
		if c.Throttled > len(took)/100 || c.Conflicts > 0 {
			t.Errorf("%d writes and reads for %d requests are throttled, %d meet a transaction", c.Throttled, len(took), c.Conflicts)
		}
		if p99 := took[len(took)*99/100]; p99 > 50*time.Millisecond {
			t.Errorf("p99 is %s", p99)
		}
		// A failed write tells an instance what others have counted since it looked last.
		if c.Reads != 2*n || c.Writes > 3.75*n {
			t.Errorf("%v read units and %v write units for %v requests", c.Reads, c.Writes, n)
		}
	})
}

type credentials struct {
	accessKey string
	secret    keys.Secret
}

// issue registers a distributor with caps of every kind and so many sub-keys.
func issue(t *testing.T, store *keys.Store, n int) []credentials {
	t.Helper()
	const plenty = 1 << 30
	token, _ := must.Get2(store.CreateInvite(t.Context(), keys.Preset{
		Name: "n", Level: "l", MaxSubKeys: int64(n), MaxTotalQuota: plenty, RateLimit: plenty / 2, Grants: catalog.Grants(),
	}, 0))(t)
	d := must.Get(store.Register(t.Context(), token))(t)
	must.Do(t, store.PutLevel(t.Context(), d.AccessKey, "l", keys.Allow(catalog.Actions()...)))
	issued := make([]credentials, n)
	quota := int64(1000)
	for i := range issued {
		k, secret := must.Get2(store.CreateSubKey(t.Context(), d.AccessKey, keys.NewSubKey{Name: fmt.Sprint("client ", i), MonthlyQuota: &quota, RateLimit: 1000}))(t)
		issued[i] = credentials{k.AccessKey, secret}
	}
	return issued
}

// request takes one request for data through a gate.
func request(ctx context.Context, g *admission.Gate, c credentials, nonce string) error {
	p := signature.Params{AccessKeyID: c.accessKey, Nonce: nonce, Timestamp: fmt.Sprint(g.Clock().Unix())}
	p.Signature = signature.Compute([]byte(c.secret), p.AccessKeyID, p.Nonce, p.Timestamp)
	caller, err := g.Check(ctx, p, "/x", catalog.Access{Kind: catalog.AnyLevel})
	if err != nil {
		return err
	}
	_, err = g.Admit(ctx, &caller)
	return err
}
