package connections

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
)

// slotShard is one shard of an owner's counter.
type slotShard struct {
	taken, limit int64
	cap          int64 // that was split
	version      int64 // of the split, 0 where the shard does not exist
	since        int64 // of the cap under which what was there was counted last, 0 where that never was needed
}

// split is how the cap of an owner lies over its shards. Each split has a version,
// which whoever makes it wins by a condition on the first shard. All shards are then
// frozen, one by one: their limit is 0 and their version the new one. When all are,
// nobody takes anything, the total can only fall, and each shard is given its limit, on
// condition that its version is still that. So the limits of all shards never sum to
// more than one of the caps, whoever dies in between or begins at the same time.
type split struct {
	shards []slotShard
	done   int64 // version of the last split that was finished
}

// stored is how many shards may exist.
func (sp *split) stored() int { return len(sp.shards) }

func (sp *split) total() (n int64) {
	for _, sh := range sp.shards {
		n += sh.taken
	}
	return n
}

func (sp *split) limits() (n int64) {
	for _, sh := range sp.shards {
		n += sh.limit
	}
	return n
}

func (sp *split) free() (n int64) {
	for _, sh := range sp.shards {
		n += max(sh.limit-sh.taken, 0)
	}
	return n
}

// pick is a shard with slots left, at random, by how many.
func (sp *split) pick() int {
	n := rand.Int64N(max(sp.free(), 1))
	for i, sh := range sp.shards {
		if n -= max(sh.limit-sh.taken, 0); n < 0 {
			return i
		}
	}
	return 0
}

// since is that of the newest cap under which what was there has been counted.
func (sp *split) since() int64 { return sp.shards[0].since }

// underWay reports whether somebody is making a split.
func (sp *split) underWay() bool { return sp.shards[0].version > sp.done }

// settled reports whether the shards were split under a cap, and that is done.
func (sp *split) settled(limit int64) bool {
	if sp.underWay() || sp.shards[0].version == 0 {
		return false
	}
	for _, sh := range sp.shards {
		if sh.version != 0 && (sh.version != sp.done || sh.cap != limit) {
			return false
		}
	}
	return true
}

const splitAtOnce = 16 // requests

// readSplit reads the shards of an owner, strongly consistent.
func (s *Store) readSplit(ctx context.Context, o *owner) (*split, error) {
	first, err := s.read(ctx, o.key(0))
	if err != nil {
		return nil, fmt.Errorf("read the slots that are taken: %w", err)
	}
	seen := &split{shards: make([]slotShard, max(int(first.number("of")), 1)), done: first.number("done")}
	seen.shards[0] = shardOf(&first)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(splitAtOnce)
	for i := 1; i < len(seen.shards); i++ {
		group.Go(func() error {
			im, err := s.read(ctx, o.key(i))
			seen.shards[i] = shardOf(&im)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the slots that are taken: %w", err)
	}
	return seen, nil
}

func shardOf(im *image) slotShard {
	return slotShard{im.number("taken"), im.number("lim"), im.number("cap"), im.number("v"), im.number("since")}
}

// errOvertaken is the error of a split that another has overtaken.
var errOvertaken = errors.New("another split came first")

// split splits the owner's cap over its shards again, unless another does.
func (s *Store) split(ctx context.Context, o *owner, seen *split) error {
	of := *o
	o = &of
	o.since = max(o.since, seen.since())
	n := max(shardsFor(o.cap), seen.stored())
	old := seen.shards[0].version
	made := &split{shards: make([]slotShard, n)}
	taken, err := s.freeze(ctx, o, 0, old, old+1, n, 0)
	if errors.Is(err, errOvertaken) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("split a cap: %w", err)
	}
	made.shards[0].taken = taken
	if old == 0 { // no other shard exists, of which anything could be taken
		made.distribute(o.cap)
	}
	err = atOnce(ctx, 1, n, func(ctx context.Context, i int) (err error) {
		made.shards[i].taken, err = s.freeze(ctx, o, i, -1, old+1, 0, made.shards[i].limit)
		return err
	})
	if err == nil && old > 0 {
		made.distribute(o.cap)
		err = atOnce(ctx, 1, n, func(ctx context.Context, i int) error { return s.grant(ctx, o, i, made.shards[i].limit, old+1) })
	}
	if err == nil {
		err = s.grant(ctx, o, 0, made.shards[0].limit, old+1) // last: it says that the split is done
	}
	if err != nil && !errors.Is(err, errOvertaken) {
		return fmt.Errorf("split a cap: %w", err)
	}
	return nil
}

// distribute sets the limits: what each shard has taken and its share of the rest, or none
// where nothing is left.
func (sp *split) distribute(limit int64) {
	rest := limit - sp.total()
	if rest <= 0 {
		return
	}
	n := int64(shardsFor(limit))
	from := rand.Int64N(n)
	for i := range sp.shards {
		sh := &sp.shards[i]
		sh.limit = sh.taken
		if at := int64(i); at < n {
			sh.limit += rest / n
			if (at+from)%n < rest%n {
				sh.limit++
			}
		}
	}
}

// atOnce does something for each of some shards.
func atOnce(ctx context.Context, from, to int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(splitAtOnce)
	for i := from; i < to; i++ {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// freeze gives a shard a new version and a limit, 0 where it is granted one only when all
// are frozen, and returns what is taken. The first shard must have the version that was read; the others any
// older one, or not exist.
func (s *Store) freeze(ctx context.Context, o *owner, i int, read, version int64, of int, limit int64) (taken int64, err error) {
	u := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: o.key(i),
		UpdateExpression:          aws.String("SET v = :v, #cap = :cap, lim = :lim, taken = if_not_exists(taken, :zero)"),
		ConditionExpression:       aws.String("attribute_not_exists(v) OR v < :v"),
		ExpressionAttributeNames:  map[string]string{"#cap": "cap"},
		ExpressionAttributeValues: item{":v": attr.N(version), ":cap": attr.N(o.cap), ":lim": attr.N(limit), ":zero": attr.N(0)},
		ReturnValues:              types.ReturnValueAllNew,
	}
	if o.since > 0 {
		*u.UpdateExpression += ", since = :since"
		u.ExpressionAttributeValues[":since"] = attr.N(o.since)
	}
	if i == 0 {
		*u.UpdateExpression += ", #of = :of"
		u.ExpressionAttributeNames["#of"] = "of"
		u.ExpressionAttributeValues[":of"] = attr.N(int64(of))
		u.ConditionExpression = aws.String("attribute_not_exists(v)")
		if read > 0 {
			u.ConditionExpression = aws.String("v = :read")
			u.ExpressionAttributeValues[":read"] = attr.N(read)
		}
	}
	out, err := s.versioned(ctx, u)
	if err != nil {
		return 0, err
	}
	im := imageOf(out.Attributes)
	return im.number("taken"), nil
}

// grant gives a shard its limit.
func (s *Store) grant(ctx context.Context, o *owner, i int, limit, version int64) error {
	u := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: o.key(i),
		UpdateExpression: aws.String("SET lim = :lim"), ConditionExpression: aws.String("v = :v"),
		ExpressionAttributeValues: item{":v": attr.N(version), ":lim": attr.N(limit)},
	}
	if i == 0 {
		u.UpdateExpression = aws.String("SET lim = :lim, done = :v")
	} else if limit == 0 {
		return nil
	}
	_, err := s.versioned(ctx, u)
	return err
}

// versioned updates a shard; the error is errOvertaken where it has another version.
func (s *Store) versioned(ctx context.Context, in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	out, err := s.update(ctx, in)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return nil, errOvertaken
	}
	return out, err
}
