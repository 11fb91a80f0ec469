package connections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/readunits"
)

// MostAddresses is how many addresses a connection follows at most, whatever the caps:
// each message that adds some reads what is followed.
const MostAddresses = 30_000

// MostAddressesTogether is how many addresses the connections of one distributor follow
// together at most, one that two of them follow counted twice: each takes 800 bytes of the
// ingester's memory, 1,200 on the feed of states, and all distributors share that. The
// ingester, which knows them, counts them and refuses what goes beyond
// ([Store.RefuseAddresses]).
const MostAddressesTogether = 75_000

// ErrFull is the error of a message with which a connection would follow more than
// [MostAddresses].
var ErrFull = errors.New("the connection follows as many addresses as it may")

// AddAddresses adds those addresses that the connection does not follow yet,
// and takes one slot for all of them. The ingester sends the reply before their
// data; without any to add the reply is left like that of [Store.Answer].
// Addresses are in lower case, fewer than fit into 128 KB of message. The error
// is [ErrGone], [ErrFull], or a [*LimitError] when a cap is met.
//
// An address that a later message has removed, which was carried out before, is not
// added. Two messages at once may both add an address, which is then followed until it
// is removed from both.
func (s *Store) AddAddresses(ctx context.Context, m Message, addresses []string, limits Limits, reply Reply) error {
	now := s.clock()
	groups, err := s.query(ctx, m.Connection, prefixGroup, after(prefixGroup))
	if err != nil {
		return err
	}
	group := m.below(prefixGroup, now)
	mine := func(im image) bool { return im.sort() == attr.Text(group, attrSK) }
	groups = slices.DeleteFunc(groups, mine) // its own is there when this is a repetition
	fresh := missing(addresses, groups)
	ending, err := s.renewAddresses(ctx, m, addresses, groups, now)
	if err != nil {
		return err
	}
	fresh = append(fresh, ending...)
	if len(fresh) > 0 && len(fresh)+followed(groups) > MostAddresses {
		return ErrFull
	}
	if len(fresh) == 0 {
		return s.Answer(ctx, m, reply)
	}
	group[attrAddresses] = addressSet(fresh)
	reply.into(group)
	owners := ownersOf(m.Key, m.Distributor, subs, limits)
	_, err = s.acquire(ctx, m.Connection, owners, false, func(held item) types.TransactWriteItem {
		put := s.put(group)
		for _, name := range [...]string{attrKeySlot, attrDistributorSlot} {
			delete(group, name)
			if shard, ok := held[name]; ok {
				group[name] = shard
			}
		}
		put.Put.ConditionExpression = aws.String("attribute_not_exists(pk)")
		return put
	})
	if err != nil {
		return fmt.Errorf("add addresses: %w", err)
	}
	k := item{attrPK: group[attrPK], attrSK: group[attrSK]}
	if err := s.requireConnection(ctx, m.Connection); err != nil {
		return s.undo(ctx, k, err)
	}
	ctx = readunits.Unbounded(ctx) // what was begun comes to its end
	var gone []string
	err = s.remembered(ctx, m.Connection, numbered(prefixRemoval, m.At)+"$", after(prefixRemoval), func(removal image) {
		gone = append(gone, common(fresh, removal.addresses)...)
	})
	if err == nil && len(gone) > 0 {
		err = s.withdraw(ctx, k, missing(gone, nil))
	}
	if err != nil {
		return fmt.Errorf("add addresses: %w", err)
	}
	return nil
}

// RefuseAddresses takes back all that one message has added, and frees its slots.
func (s *Store) RefuseAddresses(ctx context.Context, added Pending) error {
	if err := s.undo(ctx, key(prefixConnection+added.Connection, added.item), nil); err != nil {
		return fmt.Errorf("refuse addresses: %w", err)
	}
	return nil
}

// carriedOut is how long after the gateway received a message it is carried out or given
// up: twice what the gateway waits for the function, as the clocks of both may differ.
const carriedOut = time.Minute

// renewAddresses notes that a message asks again for addresses that earlier ones have
// added, so that a removal from between them, that comes late, leaves them. It returns
// those that such a removal may have begun to take out: the removal leaves what it
// removes before it looks for notes, and this leaves the note before it looks for
// removals, so one of them finds the other. A removal from more than a minute before the
// groups were read, which was at began, has ended before that.
func (s *Store) renewAddresses(ctx context.Context, m Message, addresses []string, groups []image, began time.Time) (ending []string, err error) {
	added := make(map[string]int64) // when, ms
	for _, group := range groups {
		for _, a := range group.addresses {
			added[a] = max(added[a], group.number(attrTime))
		}
	}
	var again []string
	for _, a := range missing(addresses, nil) {
		if at, ok := added[a]; ok && at < m.At.UnixMilli() {
			again = append(again, a)
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	if err := s.remember(ctx, &m, prefixRenewal, again); err != nil {
		return nil, fmt.Errorf("add addresses: %w", err)
	}
	if m.At.Before(began) {
		began = m.At
	}
	err = s.remembered(ctx, m.Connection, numbered(prefixRemoval, began.Add(-carriedOut)), numbered(prefixRemoval, m.At), func(removal image) {
		for _, a := range common(again, removal.addresses) {
			if removal.number(attrTime) >= added[a] {
				ending = append(ending, a)
			}
		}
	})
	return missing(ending, nil), err
}

// remember leaves addresses of a message for those that are carried out beside it. They
// are below no connection: nobody but other messages reads them, of the last minute, and
// they expire by themselves.
func (s *Store) remember(ctx context.Context, m *Message, prefix string, addresses []string) error {
	now := s.clock()
	it := m.below(prefix, now)
	it[attrPK] = attr.S(prefixMemory + m.Connection)
	it[attrAddresses], it[attrExpiry] = addressSet(addresses), expiry(now, endedKept)
	_, err := s.write(ctx, s.put(it))
	return err
}

// remembered visits what messages of a connection have left for others, of sort keys
// between two.
func (s *Store) remembered(ctx context.Context, id, from, to string, visit func(image)) error {
	return s.visit(ctx, prefixMemory+id, from, to, visit)
}

// followed is how many addresses groups hold together.
func followed(groups []image) (n int) {
	for i := range groups {
		n += len(groups[i].addresses)
	}
	return n
}

// missing returns the addresses that no group holds, each once.
func missing(addresses []string, groups []image) []string {
	held := make(map[string]bool)
	for _, im := range groups {
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

// common returns those of a that are in b.
func common(a, b []string) []string {
	return without(a, without(a, b))
}

// RemoveAddresses removes those of the addresses that the connection follows,
// and frees the slot of every message whose last address goes. What a later message has
// added stays. The reply is left to [Store.Answer], which also finds that the
// connection is gone.
func (s *Store) RemoveAddresses(ctx context.Context, m Message, addresses []string) error {
	unwanted := missing(addresses, nil)
	if len(unwanted) == 0 {
		return nil
	}
	// A message from before this one that is still being carried out adds what it has to
	// add, then looks for this.
	if err := s.remember(ctx, &m, prefixRemoval, unwanted); err != nil {
		return fmt.Errorf("remove addresses: %w", err)
	}
	err := s.remembered(ctx, m.Connection, numbered(prefixRenewal, m.At)+"$", after(prefixRenewal), func(renewal image) {
		unwanted = without(unwanted, renewal.addresses)
	})
	if err != nil {
		return fmt.Errorf("remove addresses: %w", err)
	}
	groups, err := s.query(ctx, m.Connection, prefixGroup, numbered(prefixGroup, m.At)+"$")
	if err != nil {
		return err
	}
	work, within := errgroup.WithContext(ctx)
	work.SetLimit(removeAtOnce)
	for _, group := range groups {
		gone := common(group.addresses, unwanted)
		switch {
		case len(group.addresses) == 0: // whoever took out the last did not come to its end
			work.Go(func() error { _, err := s.discard(within, group); return err })
		case len(gone) > 0:
			work.Go(func() error { return s.withdraw(within, key(group.text[attrPK], group.sort()), gone) })
		}
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("remove addresses: %w", err)
	}
	return nil
}

// withdraw takes addresses out of a group, which ends with the last of them.
func (s *Store) withdraw(ctx context.Context, group item, addresses []string) error {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: group,
		UpdateExpression:          aws.String("DELETE #addrs :gone ADD #n :one"),
		ConditionExpression:       aws.String("attribute_exists(pk)"),
		ExpressionAttributeNames:  map[string]string{"#addrs": attrAddresses, "#n": attrWrites},
		ExpressionAttributeValues: item{":gone": addressSet(addresses), ":one": attr.N(1)},
		ReturnValues:              types.ReturnValueAllNew,
	}
	out, err := s.update(ctx, in)
	var gone *types.ConditionalCheckFailedException
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil {
		return err
	}
	if left := imageOf(out.Attributes); len(left.addresses) == 0 {
		_, err = s.discard(ctx, left)
	}
	return err
}
