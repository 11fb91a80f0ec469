package keys

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// A head is what each request needs of its distributor. It is kept in several equal
// copies, each in a partition of its own, so that no partition is read for all of a
// distributor's requests. They change together, in one transaction, and each change
// raises their policy, as does each change of a level: a level that was read under a
// policy is in force for as long as heads show the same.

// headAttributes are the attributes of a distributor that its heads hold too.
var headAttributes = []string{"disabled", "grants", "max_total_quota", "rate_limit", "ws_conn_limit", "ws_sub_limit", "ws_conn_since", "ws_sub_since"}

// headOf is the head of a distributor that registers.
func headOf(p *Preset) item {
	head := item{"policy": attr.N(1)}
	for name, value := range p.attributes() {
		if slices.Contains(headAttributes, name) {
			head[name] = value
		}
	}
	return head
}

// raisePolicy makes writes together with the change that they mean to the heads of a
// distributor, of which settings are the attributes; nil removes one. The error is that
// of [Store.transact].
func (s *Store) raisePolicy(ctx context.Context, distributor string, settings item, writes ...types.TransactWriteItem) error {
	for i := range headCopies {
		c := change{}
		c.Add("policy", 1)
		c.SetAll(settings)
		writes = append(writes, types.TransactWriteItem{Update: c.update(s.table, headKey(distributor, i))})
	}
	return s.transact(ctx, writes...)
}

// changeDistributor changes attributes of a distributor, in force on the next request. It
// reports whether there is the distributor, with the attributes that were seen.
func (s *Store) changeDistributor(ctx context.Context, accessKey string, settings, seen item) (done bool, err error) {
	if !isAccessKey(accessKey) {
		return false, nil
	}
	c := change{}
	c.SetAll(settings)
	for name, value := range seen {
		c.If(name, value)
	}
	update := c.update(s.table, distributorKey(accessKey))
	ofHead := maps.Clone(settings)
	maps.DeleteFunc(ofHead, func(name string, _ types.AttributeValue) bool { return !slices.Contains(headAttributes, name) })
	if len(ofHead) == 0 {
		return s.update(ctx, update)
	}
	err = s.retry(ctx, func() error {
		return s.raisePolicy(ctx, accessKey, ofHead, types.TransactWriteItem{Update: update})
	})
	var failed *unmetError
	if errors.As(err, &failed) {
		return false, nil
	}
	return err == nil, err
}
