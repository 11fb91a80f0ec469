package keys

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// uncounted gives a distributor so many levels, level0 and so on, as there were before levels
// were counted.
func (b *bed) uncounted(distributor string, n int) {
	b.t.Helper()
	for i := range n {
		must.Get(b.db.PutItem(b.t.Context(), &dynamodb.PutItemInput{TableName: &b.table, Item: with(levelKey(distributor, fmt.Sprint("level", i)), item{
			"max_time_range": attr.N(0), "max_request": attr.N(0), "rate_limit": attr.N(0), "permissions": jsonText([]Permission{}),
		})}))(b.t)
	}
	must.Get(b.db.UpdateItem(b.t.Context(), &dynamodb.UpdateItemInput{
		TableName: &b.table, Key: distributorKey(distributor), UpdateExpression: aws.String("REMOVE level_count"),
	}))(b.t)
}

// counted is uncounted, and counts them.
func (b *bed) counted(distributor string, n int) {
	b.t.Helper()
	b.uncounted(distributor, n)
	if got := must.Get(b.levelCount(b.t.Context(), distributor))(b.t); got != int64(n) {
		b.t.Fatalf("%d levels are counted, want %d", got, n)
	}
}

// wantLevels checks how many levels a distributor has, and that as many are counted.
func (b *bed) wantLevels(distributor string, n int) {
	b.t.Helper()
	names := must.Get(b.Levels(b.t.Context(), distributor))(b.t)
	it := must.Get(b.read(b.t.Context(), distributorKey(distributor)))(b.t)
	if it["level_count"] == nil || attr.Int(it, "level_count") != int64(n) || len(names) != n {
		b.t.Errorf("there are %d levels and %d are counted, want %d", len(names), attr.Int(it, "level_count"), n)
	}
}

func TestALevelIsCountedOnceAndNoMoreWhenItIsGone(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	b.wantLevels(d, 0)
	b.level(d, "a")
	b.level(d, "b")
	b.wantLevels(d, 2)
	b.level(d, "a", "HL_FILLS")
	b.wantLevels(d, 2)
	must.Do(t, b.DeleteLevel(t.Context(), d, "a"))
	b.wantLevels(d, 1)
	if err := b.DeleteLevel(t.Context(), d, "a"); !errors.Is(err, ErrUnknownLevel) {
		t.Errorf("deleted again: %v, want ErrUnknownLevel", err)
	}
	b.wantLevels(d, 1)
}

// A transaction that is refused costs as much as one that is made.
func TestTheDeletionOfALevelThatThereIsNotWritesNothing(t *testing.T) {
	t.Parallel()
	engine := storetest.DynamoDB(t)
	b := newBedOn(t, engine)
	d := b.distributor().AccessKey
	rules := awsrules.New(t)
	s := New(rules.DynamoDB(engine), b.table, b.ring, b.now)
	if err := s.DeleteLevel(t.Context(), d, "none"); !errors.Is(err, ErrUnknownLevel) {
		t.Errorf("got %v, want ErrUnknownLevel", err)
	}
	if c := rules.Take(); c.Writes > 0 || c.Reads > 1 {
		t.Errorf("it reads %v and writes %v units", c.Reads, c.Writes)
	}
}

func TestALevelBeyondTheBoundIsRefusedUntilOneIsDeleted(t *testing.T) {
	t.Parallel()
	for name, has := range map[string]func(b *bed, distributor string, n int){"counted": (*bed).counted, "older than the count": (*bed).uncounted} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			d := b.distributor().AccessKey
			has(b, d, maxLevels)
			wantInvalid(t, b.PutLevel(t.Context(), d, "new", Allow()), "level must be one that exists", "may have 100 levels and has 100")
			if _, err := b.Level(t.Context(), d, "new"); !errors.Is(err, ErrUnknownLevel) {
				t.Errorf("the refused level is read with error %v, want ErrUnknownLevel", err)
			}
			b.level(d, "level7", "HL_FILLS")
			if got := must.Get(b.Level(t.Context(), d, "level7"))(t); !slices.Equal(got.Permissions[0].Actions, []string{"HL_FILLS"}) {
				t.Errorf("one of 100 levels was replaced and reads %+v", got)
			}
			b.wantLevels(d, maxLevels)
			must.Do(t, b.DeleteLevel(t.Context(), d, "level3"))
			b.level(d, "new")
			wantInvalid(t, b.PutLevel(t.Context(), d, "level3", Allow()), "may have 100 levels and has 100")
			b.wantLevels(d, maxLevels)
		})
	}
}

func TestLevelsOlderThanTheCountAreCountedByTheFirstThatComesOrGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has    int
		change func(b *bed, distributor string) error
		err    error
		want   int
	}{
		"the first of all":       {0, func(b *bed, d string) error { return b.PutLevel(b.t.Context(), d, "new", Allow()) }, nil, 1},
		"a new one":              {5, func(b *bed, d string) error { return b.PutLevel(b.t.Context(), d, "new", Allow()) }, nil, 6},
		"one is deleted":         {5, func(b *bed, d string) error { return b.DeleteLevel(b.t.Context(), d, "level2") }, nil, 4},
		"one is deleted of more": {103, func(b *bed, d string) error { return b.DeleteLevel(b.t.Context(), d, "level2") }, nil, 102},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			d := b.distributor().AccessKey
			b.uncounted(d, c.has)
			if err := c.change(b, d); !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}
			b.wantLevels(d, c.want)
		})
	}
}

// A distributor beyond the bound from before it keeps what it has.
func TestMoreLevelsThanTheBoundStayAndAreReplaced(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	b.uncounted(d, maxLevels+1)
	wantInvalid(t, b.PutLevel(t.Context(), d, "new", Allow()), "may have 100 levels and has 101")
	b.level(d, "level100", "HL_FILLS")
	must.Do(t, b.DeleteLevel(t.Context(), d, "level0"))
	wantInvalid(t, b.PutLevel(t.Context(), d, "new", Allow()), "may have 100 levels and has 100")
	b.wantLevels(d, maxLevels)
}

func TestACountIsNotOfAListThatHasChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(b *bed, distributor string) error
		want      int
	}{
		"another comes":     {func(b *bed, d string) error { return b.PutLevel(b.t.Context(), d, "other", Allow()) }, 7},
		"one goes":          {func(b *bed, d string) error { return b.DeleteLevel(b.t.Context(), d, "level1") }, 5},
		"the same one came": {func(b *bed, d string) error { return b.PutLevel(b.t.Context(), d, "new", Allow()) }, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			d := b.distributor().AccessKey
			b.uncounted(d, 5)
			var once sync.Once
			db := storetest.Intercept(b.db, func(in any, send func() (any, error)) (any, error) {
				out, err := send()
				if _, listing := in.(*dynamodb.QueryInput); listing {
					once.Do(func() {
						if err := c.meanwhile(b, d); err != nil {
							t.Error(err)
						}
					})
				}
				return out, err
			})
			must.Do(t, New(db, b.table, b.ring, b.now).PutLevel(t.Context(), d, "new", Allow()))
			b.wantLevels(d, c.want)
		})
	}
}

func TestParallelChangesCountEachLevelAndNeverPassTheBound(t *testing.T) {
	t.Parallel()
	for name, has := range map[string]func(b *bed, distributor string, n int){"counted": (*bed).counted, "older than the count": (*bed).uncounted} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			d := b.distributor().AccessKey
			has(b, d, maxLevels-3)
			var put, deleted, refused atomic.Int64 // changes by their answer
			var running sync.WaitGroup
			for worker := range 24 {
				running.Go(func() {
					random := rand.New(rand.NewPCG(1, uint64(worker)))
					for range 8 {
						at := fmt.Sprint("level", maxLevels-8+random.IntN(16)) // five are there, eleven are not
						if random.IntN(3) == 0 {
							switch err := b.DeleteLevel(t.Context(), d, at); {
							case err == nil:
								deleted.Add(1)
							case !errors.Is(err, ErrUnknownLevel) && !errors.Is(err, ErrBusy):
								t.Error(err)
							}
						} else {
							var bad *InvalidError
							switch err := b.PutLevel(t.Context(), d, at, Allow("HL_FILLS")); {
							case err == nil:
								put.Add(1)
							case errors.As(err, &bad):
								refused.Add(1)
							case !errors.Is(err, ErrBusy):
								t.Error(err)
							}
						}
						if names, err := b.Levels(t.Context(), d); err != nil || len(names) > maxLevels {
							t.Errorf("there are %d levels, %v: want at most %d", len(names), err, maxLevels)
						}
					}
				})
			}
			running.Wait()
			b.wantLevels(d, len(must.Get(b.Levels(t.Context(), d))(t)))
			if put.Load() == 0 || deleted.Load() == 0 || refused.Load() == 0 {
				t.Errorf("%d levels were put, %d deleted and %d refused: that proves nothing", put.Load(), deleted.Load(), refused.Load())
			}
		})
	}
}
