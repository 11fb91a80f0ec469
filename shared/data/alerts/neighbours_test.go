package alerts

import (
	"fmt"
	"hash/fnv"
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

// One distributor sets up and removes alerts of a few sub-keys 1,000 times a second, by DynamoDB's
// rules and in virtual time, divided by scale: of
// sub-keys whose names it has chosen, so that whatever goes by a few bits of a hash of them is one.
func TestOneDistributorIsInNobodysWay(t *testing.T) {
	t.Parallel()
	const (
		scale     = 10
		perSecond = 1000 / scale
		seconds   = 4
		keys      = 8
	)
	engine := storetest.DynamoDB(t)
	table := storetest.Tables(t, engine) + schema.DocumentsTable
	rules := awsrules.New(t)
	rules.ReadUnits /= scale
	rules.WriteUnits /= scale
	open := func(db *dynamodb.Client) *Store {
		return Open(func(kind string, limits store.DocumentLimits) *store.Documents {
			return store.NewDocuments(db, table, kind, limits)
		})
	}
	named := func(prefix string, n int) (list []string) {
		for i := 0; len(list) < n; i++ {
			key, h := fmt.Sprint(prefix, i), fnv.New32a()
			if _, _ = h.Write([]byte(key)); h.Sum32()%16 == 3 {
				list = append(list, key)
			}
		}
		return list
	}
	loudKeys, quietKeys := named("loud", keys), named("quiet", 10*seconds)
	alert := func(i int) *Alert { return &Alert{ID: int64(i%20 + 1), Pair: "btcusdt:binance", Type: "t", Time: 1} }
	synctest.Test(t, func(t *testing.T) {
		var ofLoud, ofQuiet, ofIngester awsrules.Counts
		loud, quiet, ingester := open(rules.DynamoDBOf(engine, &ofLoud)), open(rules.DynamoDBOf(engine, &ofQuiet)), open(rules.DynamoDBOf(engine, &ofIngester))
		var all sync.WaitGroup
		for i := range perSecond * seconds {
			all.Go(func() {
				key := loudKeys[i%keys]
				if i/keys%2 == 0 {
					_ = loud.Add(t.Context(), "loud", key, alert(i/keys/2))
				} else {
					_ = loud.Remove(t.Context(), "loud", key, alert(i/keys/2).ID)
				}
			})
			if i%(perSecond/10) == 0 {
				all.Go(func() {
					must.Do(t, quiet.Add(t.Context(), fmt.Sprint("quiet ", i%7), quietKeys[i/(perSecond/10)], alert(i)))
				})
			}
			if i%perSecond == 0 {
				must.Get(ingester.Owners(t.Context()))(t)
			}
			time.Sleep(time.Second / perSecond)
		}
		all.Wait()
		if owners := must.Get(ingester.Owners(t.Context()))(t); owners[quietKeys[0]].Distributor != "quiet 0" {
			t.Errorf("owners are %v", owners)
		}
		c := rules.Take()
		t.Logf("the loud one meets %d conflicts and is throttled %d times; %v reads, %v writes, %v", ofLoud.Conflicts, ofLoud.Throttled, c.Reads, c.Writes, c.Calls)
		for who, met := range map[string]awsrules.Counts{"neighbours": ofQuiet, "the ingester": ofIngester} {
			if met.Conflicts > 0 || met.Throttled > 0 {
				t.Errorf("%s met %d conflicts, and were throttled %d times", who, met.Conflicts, met.Throttled)
			}
		}
	})
}
