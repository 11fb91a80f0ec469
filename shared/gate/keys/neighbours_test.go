package keys

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/testenv"
)

// TestManagementOfOneIsInNobodysWay sends, by DynamoDB's rules and in virtual time, 1,000 requests
// a second of one distributor that create, change, list and delete sub-keys. Those of a neighbour,
// and its requests for data, are never throttled and meet no transaction. All of it, what a partition
// takes included, is divided by scale.
func TestManagementOfOneIsInNobodysWay(t *testing.T) {
	t.Parallel()
	const (
		scale     = 10
		perSecond = 1000 / scale
	)
	seconds := testenv.Amount(2, 4)
	engine := storetest.DynamoDB(t)
	b := newBedOn(t, engine)
	wide := func(p *Preset) { p.MaxSubKeys = 10_000 }
	loud, quiet := b.distributor(wide).AccessKey, b.distributor(wide).AccessKey
	rules := awsrules.New(t)
	rules.ReadUnits /= scale
	rules.WriteUnits /= scale
	synctest.Test(t, func(t *testing.T) {
		var ofLoud, ofQuiet awsrules.Counts
		open := func(db *dynamodb.Client) *Store { return New(db, b.table, b.ring, time.Now) }
		all := open(rules.DynamoDBOf(engine, &ofLoud))
		beside := open(rules.DynamoDBOf(engine, &ofQuiet))
		var running sync.WaitGroup
		for i := range perSecond * seconds {
			running.Go(func() {
				_ = manage(t.Context(), all, loud, i) // it is refused as it asks for too much
			})
			if i%(perSecond/5) == 0 {
				running.Go(func() {
					if err := manage(t.Context(), beside, quiet, i); err != nil {
						t.Errorf("a neighbour: %v", err)
					}
				})
			}
			time.Sleep(time.Second / perSecond)
		}
		running.Wait()
		t.Logf("the loud one meets %d conflicts, and is throttled %d times", ofLoud.Conflicts, ofLoud.Throttled)
		if ofQuiet.Conflicts > 0 || ofQuiet.Throttled > 0 {
			t.Errorf("a neighbour met %d conflicts, and was throttled %d times", ofQuiet.Conflicts, ofQuiet.Throttled)
		}
		if ofLoud.Conflicts+ofLoud.Throttled == 0 {
			t.Error("the loud one is not loud")
		}
	})
}

// manage does all that a distributor may with a sub-key, a request after the other.
func manage(ctx context.Context, s *Store, distributor string, n int) error {
	k, _, err := s.CreateSubKey(ctx, distributor, NewSubKey{Name: fmt.Sprint("client ", n), MonthlyQuota: ptr(int64(5))})
	if err != nil {
		return err
	}
	if err := s.UpdateSubKey(ctx, distributor, SubKeyChange{AccessKey: k.AccessKey, MonthlyQuota: ptr(int64(7))}); err != nil {
		return err
	}
	if _, err := s.Resolve(ctx, k.AccessKey); err != nil {
		return err
	}
	if _, _, err := s.SubKeys(ctx, distributor, Filter{}, 0, 20); err != nil {
		return err
	}
	return s.DeleteSubKey(ctx, distributor, k.AccessKey)
}
