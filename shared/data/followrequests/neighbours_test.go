package followrequests

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// TestOneDistributorIsInNobodysWay sends, by DynamoDB's rules and in virtual time, 1,000
// requests a second of one distributor to instances of which each has many: for accounts that
// nobody has asked for before, as it may want and far beyond, and for the same ones again and
// again. All of it, what a partition takes included, is divided by scale.
func TestOneDistributorIsInNobodysWay(t *testing.T) {
	t.Parallel()
	const (
		scale     = 5
		perSecond = 1000 / scale
		seconds   = 4
		instances = 20
		ofOne     = 20 // accounts a request
	)
	engine := storetest.DynamoDB(t)
	table := storetest.Tables(t, engine) + schema.DocumentsTable
	rules := awsrules.New(t)
	rules.ReadUnits /= scale
	rules.WriteUnits /= scale
	open := func(db *dynamodb.Client) *Store {
		return Accounts.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
			return store.NewDocuments(db, table, kind, limits)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var ofLoud, ofQuiet, ofIngester awsrules.Counts
		loud := make([]*Store, instances)
		for i := range loud {
			loud[i] = open(rules.DynamoDBOf(engine, &ofLoud))
		}
		ingester := open(rules.DynamoDBOf(engine, &ofIngester))
		var longest time.Duration
		var mu sync.Mutex
		accepted := map[string]bool{}
		var all sync.WaitGroup
		for i := range perSecond * seconds {
			all.Go(func() {
				began, ids := time.Now(), addresses(i*ofOne, ofOne)
				if i%2 == 0 {
					ids = addresses(0, ofOne)
				}
				refused, err := loud[i%instances].Want(t.Context(), "loud", ids, time.Now())
				mu.Lock()
				defer mu.Unlock()
				longest = max(longest, time.Since(began))
				if err == nil {
					for _, id := range ids {
						accepted[id] = accepted[id] || !slices.Contains(refused, id)
					}
				}
			})
			if i%(perSecond/10) == 0 {
				quiet := open(rules.DynamoDBOf(engine, &ofQuiet)) // each a cold start
				all.Go(func() {
					if refused, err := quiet.Want(t.Context(), fmt.Sprint("quiet ", i%7), addresses(1_000_000+i, 5), time.Now()); err != nil || len(refused) > 0 {
						t.Errorf("a neighbour: %d refused, %v", len(refused), err)
					}
				})
				if _, err := ingester.List(t.Context(), time.Now()); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Second / perSecond)
		}
		all.Wait()
		time.Sleep(time.Second)
		// What was not written for want of throughput is with the next requests.
		for i := range 30 {
			if _, err := loud[i%instances].Want(t.Context(), "loud", addresses(2_000_000+i*ofOne, ofOne), time.Now()); err != nil {
				t.Log(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		list := must.Get(ingester.List(t.Context(), time.Now()))(t)
		of := map[string]int{}
		for _, one := range list {
			of[one.Distributor] = len(one.Things)
		}
		if len(of) != 8 || of["loud"] != Accounts.Most {
			t.Errorf("wanted are %v", of)
		}
		c := rules.Take()
		t.Logf("%d accepted; longest %s; the loud one meets %d conflicts and is throttled %d times; %v reads, %v writes, %v", len(accepted), longest, ofLoud.Conflicts, ofLoud.Throttled, c.Reads, c.Writes, c.Calls)
		for who, met := range map[string]awsrules.Counts{"neighbours": ofQuiet, "the ingester": ofIngester} {
			if met.Conflicts > 0 || met.Throttled > 0 {
				t.Errorf("%s met %d conflicts, and were throttled %d times", who, met.Conflicts, met.Throttled)
			}
		}
		if longest > 250*time.Millisecond {
			t.Errorf("a request was held up for %s", longest)
		}
	})
}
