package keys

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
)

// Filter selects sub-keys.
type Filter struct {
	Status  *int64 // 1 active, 0 disabled, nil either
	Keyword string // part of the name or start of the access key, in any case
}

// total is how many sub-keys the filter selects; known is false where only a look at
// all rows tells.
func (f *Filter) total(d *Distributor) (n int64, known bool) {
	switch {
	case f.Keyword != "":
		return 0, false
	case f.Status == nil:
		return d.SubKeyCount, true
	case *f.Status == 1:
		return d.ActiveSubKeys, true
	}
	return d.SubKeyCount - d.ActiveSubKeys, true
}

// apply has a query of rows select by the filter.
func (f *Filter) apply(in *dynamodb.QueryInput) {
	var conditions []string
	name := func(names ...string) {
		for _, n := range names {
			in.ExpressionAttributeNames["#"+n] = n
		}
	}
	if f.Status != nil {
		name("status")
		conditions = append(conditions, "#status = :status")
		in.ExpressionAttributeValues[":status"] = attr.N(*f.Status)
	}
	if f.Keyword != "" {
		name("find", "access_key")
		conditions = append(conditions, "(contains(#find, :keyword) OR begins_with(#access_key, :keyword))")
		in.ExpressionAttributeValues[":keyword"] = attr.S(strings.ToLower(f.Keyword))
	}
	if len(conditions) > 0 {
		in.FilterExpression = aws.String(strings.Join(conditions, " AND "))
	}
}

// row is what lists filter and show of a sub-key.
func (k *SubKey) row() item {
	return with(nameInRow(k.Name), item{
		"access_key": attr.S(k.AccessKey), "status": attr.N(k.status()), "monthly_quota": attr.N(k.MonthlyQuota),
	})
}

func nameInRow(name string) item {
	return item{"name": attr.S(name), "find": attr.S(strings.ToLower(name))}
}
