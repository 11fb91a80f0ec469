package lease

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Names of the attributes. All go through placeholders, as some are reserved.
const (
	attrPK    = "pk"
	attrSK    = "sk"
	attrOwner = "owner" // absent while nobody holds the lease
	attrEpoch = "ep"
	attrBeat  = "beat"
)

var names = map[string]string{"#owner": attrOwner, "#ep": attrEpoch, "#beat": attrBeat}

// record is the item of a lease. The zero value stands for none.
type record struct {
	owner       string
	epoch, beat int64
}

// errChanged tells that the item is not as a change of it wants.
var errChanged = errors.New("the lease is not as it was")

type item = map[string]types.AttributeValue

func (l *Lease) key() item { return item{attrPK: text("lease#" + l.Name), attrSK: text("-")} }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func recordOf(it item) record {
	var r record
	if s, ok := it[attrOwner].(*types.AttributeValueMemberS); ok {
		r.owner = s.Value
	}
	for name, to := range map[string]*int64{attrEpoch: &r.epoch, attrBeat: &r.beat} {
		if n, ok := it[name].(*types.AttributeValueMemberN); ok {
			*to, _ = strconv.ParseInt(n.Value, 10, 64) // the item is ours: what is not a number was never written
		}
	}
	return r
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

// take makes the lease this process's if it is still as it was read; nil if it
// is not.
func (l *Lease) take(ctx context.Context, r record) (*record, error) {
	condition := "attribute_not_exists(#ep)"
	values := item{":me": text(l.Owner), ":one": number(1), ":none": number(0)}
	if r.epoch > 0 {
		condition = "#ep = :ep AND #beat = :beat AND attribute_not_exists(#owner)"
		values[":ep"], values[":beat"] = number(r.epoch), number(r.beat)
		if r.owner != "" {
			condition = "#ep = :ep AND #beat = :beat AND #owner = :owner"
			values[":owner"] = text(r.owner)
		}
	}
	taken, err := l.update(ctx, &dynamodb.UpdateItemInput{
		UpdateExpression:    aws.String("SET #owner = :me, #ep = if_not_exists(#ep, :none) + :one, #beat = :none"),
		ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if errors.Is(err, errChanged) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take the lease %s: %w", l.Name, err)
	}
	return taken, nil
}

// beat shows that the holder of an epoch is alive. The error is ErrLost when it
// does not hold the lease any more.
func (l *Lease) beat(ctx context.Context, epoch int64) error {
	_, err := l.update(ctx, &dynamodb.UpdateItemInput{
		UpdateExpression:    aws.String("SET #beat = #beat + :one"),
		ConditionExpression: aws.String("#ep = :ep AND #owner = :me"), ExpressionAttributeNames: names,
		ExpressionAttributeValues: item{":ep": number(epoch), ":me": text(l.Owner), ":one": number(1)},
	})
	if errors.Is(err, errChanged) {
		return ErrLost
	}
	if err != nil {
		return fmt.Errorf("renew the lease %s: %w", l.Name, err)
	}
	return nil
}

// leave ends the holding of an epoch.
func (l *Lease) leave(ctx context.Context, epoch int64) error {
	_, err := l.update(ctx, &dynamodb.UpdateItemInput{
		UpdateExpression:    aws.String("REMOVE #owner"),
		ConditionExpression: aws.String("#ep = :ep AND #owner = :me"),

		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner, "#ep": attrEpoch},
		ExpressionAttributeValues: item{":ep": number(epoch), ":me": text(l.Owner)},
	})
	if err != nil {
		return fmt.Errorf("give the lease %s back: %w", l.Name, err)
	}
	return nil
}

// update changes the item, and returns it as it is then.
func (l *Lease) update(ctx context.Context, in *dynamodb.UpdateItemInput) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Timing.Request)
	defer cancel()
	in.TableName, in.Key, in.ReturnValues = &l.Table, l.key(), types.ReturnValueAllNew
	out, err := l.DB.UpdateItem(ctx, in)
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
