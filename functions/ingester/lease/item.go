package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// Names of the attributes. All go through placeholders, as some are reserved.
const (
	attrPK    = "pk"
	attrSK    = "sk"
	attrOwner = "owner" // absent while nobody holds the lease
	attrEpoch = "ep"
	attrBeat  = "beat"
	attrRank  = "rank"      // of the holder
	attrAsker = "asker"     // who asks for the lease; absent where nobody does
	attrAsked = "askerRank" // its rank
)

var allNames = map[string]string{"#owner": attrOwner, "#ep": attrEpoch, "#beat": attrBeat, "#rank": attrRank, "#asker": attrAsker, "#asked": attrAsked}

// record is the item of a lease. The zero value stands for none.
type record struct {
	owner       string
	epoch, beat int64
	rank        int64 // of the owner
	asker       string
	asked       int64 // rank of the asker
}

// alike reports whether r shows no other sign of life of its holder than s does.
func (r record) alike(s record) bool {
	return r.owner == s.owner && r.epoch == s.epoch && r.beat == s.beat
}

// errChanged means that the item is not as a change of it wants.
var errChanged = errors.New("the lease is not as it was")

type item = attr.Item

func (l *Lease) key() item { return item{attrPK: attr.S("lease#" + l.Name), attrSK: attr.S("-")} }

func recordOf(it item) record {
	return record{
		owner: attr.Text(it, attrOwner), epoch: attr.Int(it, attrEpoch), beat: attr.Int(it, attrBeat), rank: attr.Int(it, attrRank),
		asker: attr.Text(it, attrAsker), asked: attr.Int(it, attrAsked),
	}
}

// read returns the item as it was a moment ago: what is taken is compared again
// by the table, so a read that is behind only costs time.
func (l *Lease) read(ctx context.Context) (record, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Timing.Request)
	defer cancel()
	out, err := l.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &l.Table, Key: l.key()})
	if err != nil {
		return record{}, fmt.Errorf("read the lease %s: %w", l.Name, err)
	}
	return recordOf(out.Item), nil
}

// claim makes the lease this process's if it is still as it was read; nil if it
// is not.
func (l *Lease) claim(ctx context.Context, r record) (*record, error) {
	condition := "attribute_not_exists(#ep)"
	values := item{":me": attr.S(l.Owner), ":one": attr.N(1), ":none": attr.N(0), ":rank": attr.N(l.rank())}
	if r.epoch > 0 {
		condition = "#ep = :ep AND #beat = :beat AND attribute_not_exists(#owner)"
		values[":ep"], values[":beat"] = attr.N(r.epoch), attr.N(r.beat)
		if r.owner != "" {
			condition = "#ep = :ep AND #beat = :beat AND #owner = :owner"
			values[":owner"] = attr.S(r.owner)
		}
	}
	taken, err := l.update(ctx, "SET #owner = :me, #ep = if_not_exists(#ep, :none) + :one, #beat = :none, #rank = :rank REMOVE #asker, #asked", condition, values)
	if errors.Is(err, errChanged) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take the lease %s: %w", l.Name, err)
	}
	return taken, nil
}

// ask asks the holder, which is of a lower rank, for the lease.
func (l *Lease) ask(ctx context.Context, r record, rank int64) error {
	_, err := l.update(ctx, "SET #asker = :me, #asked = :rank", "#ep = :ep AND #owner = :owner AND (attribute_not_exists(#asker) OR #asked < :rank)",
		item{":ep": attr.N(r.epoch), ":owner": attr.S(r.owner), ":me": attr.S(l.Owner), ":rank": attr.N(rank)})
	if err != nil && !errors.Is(err, errChanged) {
		return fmt.Errorf("ask for the lease %s: %w", l.Name, err)
	}
	return nil
}

// beat shows that the holder of an epoch is alive, and its rank; asked reports whether
// one of a higher rank asks for the lease. The error is ErrLost when it does not hold
// the lease any more.
func (l *Lease) beat(ctx context.Context, epoch int64) (asked bool, err error) {
	const mine = "#ep = :ep AND #owner = :me"
	rank := l.rank()
	r, err := l.update(ctx, "SET #beat = #beat + :one, #rank = :rank", mine, item{":ep": attr.N(epoch), ":me": attr.S(l.Owner), ":one": attr.N(1), ":rank": attr.N(rank)})
	if errors.Is(err, errChanged) {
		return false, ErrLost
	}
	if err != nil {
		return false, fmt.Errorf("renew the lease %s: %w", l.Name, err)
	}
	if r.asker == "" || r.asked > rank {
		return r.asker != "", nil
	}
	// Who asked is not of a higher rank any more. If this fails, the next beat does it.
	_, _ = l.update(ctx, "REMOVE #asker, #asked", mine+" AND #asked = :asked", item{":ep": attr.N(epoch), ":me": attr.S(l.Owner), ":asked": attr.N(r.asked)})
	return false, nil
}

// leave ends the holding of an epoch.
func (l *Lease) leave(ctx context.Context, epoch int64) error {
	if _, err := l.update(ctx, "REMOVE #owner", "#ep = :ep AND #owner = :me", item{":ep": attr.N(epoch), ":me": attr.S(l.Owner)}); err != nil {
		return fmt.Errorf("release the lease %s: %w", l.Name, err)
	}
	return nil
}

// update changes the item, and returns it as it is then.
func (l *Lease) update(ctx context.Context, expression, condition string, values item) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Timing.Request)
	defer cancel()
	names := map[string]string{}
	for placeholder, name := range allNames {
		if strings.Contains(expression+condition, placeholder) { // one that is not used is refused
			names[placeholder] = name
		}
	}
	out, err := l.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression: &expression, ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return nil, errChanged
	}
	if err != nil {
		return nil, err
	}
	r := recordOf(out.Attributes)
	return &r, nil
}
