package connections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
)

// Addresses of a group are cut off a transaction at this number: a group holds
// at most what fits into one message of 128 KB, about 2,900 addresses of 43
// bytes, and a transaction at most 4 MB and 100 items.
const (
	maxAddresses = 60_000
	maxBelow     = 97 // items below a connection in one transaction, beside it and two counters
)

// AddAddresses adds those addresses that the connection does not follow yet,
// and takes one slot for all of them. The ingester sends the reply before their
// data; without any to add the reply is left like that of [Store.Answer].
// Addresses are in lower case, fewer than fit into 128 KB of message. The error
// is [ErrGone], or a [*LimitError] when a cap is met.
func (s *Store) AddAddresses(ctx context.Context, id string, addresses []string, limits Limits, reply []byte) error {
	for try := range attempts {
		c, below, err := s.readAll(ctx, id)
		if err != nil {
			return err
		}
		fresh := missing(addresses, below)
		if len(fresh) == 0 {
			return s.Answer(ctx, id, reply)
		}
		now := s.clock()
		group := groupItem(id, numbered(prefixGroup, c.rev+1), fresh, c.rev+1)
		group[attrReply], group[attrAt] = attr.S(string(reply)), attr.N(now.UnixMilli())
		changes := append([]types.TransactWriteItem{s.next(c, now, nil)}, s.counters(&c.Connection, 0, 1, limits)...)
		changes = append(changes, s.put(group))
		refused, err := s.transact(ctx, changes...)
		switch {
		case err != nil:
			return fmt.Errorf("add addresses: %w", err)
		case refused == nil:
			return nil
		case !refused.failed(0):
			return refused.limit(1, attrSubs, limits)
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return err
		}
	}
	return fmt.Errorf("add addresses: %w", errCrossed)
}

// missing returns the addresses that no group holds, each once.
func missing(addresses []string, below []image) []string {
	held := make(map[string]bool)
	for _, im := range below {
		for _, a := range im.addresses {
			held[a] = true
		}
	}
	var fresh []string
	for _, a := range addresses {
		if !held[a] {
			held[a] = true
			fresh = append(fresh, a)
		}
	}
	return fresh
}

// RemoveAddresses removes those of the addresses that the connection follows,
// and frees the slot of every message whose last address goes. Addresses
// of very many messages go in several transactions. The reply is left to
// [Store.Answer], which records a message that changes nothing. The error may be
// [ErrGone].
func (s *Store) RemoveAddresses(ctx context.Context, id string, addresses []string) error {
	unwanted := make(map[string]bool, len(addresses))
	for _, a := range addresses {
		unwanted[a] = true
	}
	for try := 0; try < attempts; try++ {
		c, below, err := s.readAll(ctx, id)
		if err != nil {
			return err
		}
		changes, freed, more := s.withdraw(c, below, unwanted)
		if len(changes) == 0 {
			return nil
		}
		changes = append(changes, s.next(c, s.clock(), nil))
		if freed > 0 {
			changes = append(changes, s.counters(&c.Connection, 0, -freed, Limits{})...)
		}
		refused, err := s.transact(ctx, changes...)
		switch {
		case err != nil:
			return fmt.Errorf("remove addresses: %w", err)
		case refused == nil && !more:
			return nil
		case refused == nil:
			try = 0
			continue
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return err
		}
	}
	return fmt.Errorf("remove addresses: %w", errCrossed)
}

// withdraw returns the changes that take addresses out of their groups, as many
// as fit into a transaction, and how many groups end with them.
func (s *Store) withdraw(c *record, below []image, unwanted map[string]bool) (changes []types.TransactWriteItem, freed int64, more bool) {
	size := 0
	for _, im := range below {
		if !slices.ContainsFunc(im.addresses, func(a string) bool { return unwanted[a] }) {
			continue
		}
		if size += len(im.addresses); len(changes) == maxBelow || size > maxAddresses && len(changes) > 0 {
			return changes, freed, true
		}
		kept := slices.DeleteFunc(slices.Clone(im.addresses), func(a string) bool { return unwanted[a] })
		if len(kept) == 0 {
			freed++
			changes = append(changes, s.deletion(c.ID, im.sort()))
			continue
		}
		changes = append(changes, types.TransactWriteItem{Put: &types.Put{
			TableName: &s.table, Item: groupItem(c.ID, im.sort(), kept, c.rev+1),
			ConditionExpression: aws.String("attribute_exists(pk)"),
		}})
	}
	return changes, freed, false
}

// deletion deletes an item below a connection that must be there.
func (s *Store) deletion(id, sk string) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: key(prefixConnection+id, sk),
		ConditionExpression: aws.String("attribute_exists(pk)"),
	}}
}

// slot reports whether an item below a connection holds one.
func slot(sk string) bool {
	return strings.HasPrefix(sk, prefixSubscription) || strings.HasPrefix(sk, prefixGroup)
}
