package relaybudget

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// own is the document of a distributor: what was taken for it in a slot of what all have, and how much
// of that is spent.
type own struct {
	Slot    int64 `json:"slot"`
	Taken   int   `json:"taken"`
	Spent   int   `json:"spent"`
	Refused bool  `json:"refused,omitempty"` // more was asked for than was left
	Turn    int64 `json:"turn,omitempty"`    // ms: until then an instance is taking more
}

// turn is for how long others wait for an instance that takes more, which may have ended.
const turn = time.Second

// errTurn says that another instance of the distributor takes more.
var errTurn = errors.New("another instance has the turn")

// spendOwn spends weight of what was taken for a distributor, and takes more where that is not enough.
// An error of a race is to be tried again.
func (b *Budget) spendOwn(ctx context.Context, distributor string, weight int, now time.Time) (granted bool, err error) {
	at := now.UnixNano() / int64(slot)
	var o own
	revision, err := b.read(ctx, ownedBy+distributor, &o)
	switch {
	case err != nil || o.Slot > at:
		return false, err
	case o.Slot < at:
		o = own{Slot: at}
	}
	switch {
	case o.Taken-o.Spent >= weight:
		o.Spent += weight
		_, err := b.write(ctx, ownedBy+distributor, revision, &o)
		return err == nil, err
	case o.Refused:
		return false, nil
	case o.Turn > now.UnixMilli():
		return false, errTurn
	}
	o.Turn = now.Add(turn).UnixMilli()
	if revision, err = b.write(ctx, ownedBy+distributor, revision, &o); err != nil {
		return false, err
	}
	taken, failed := b.take(ctx, distributor, weight, o.Taken, at)
	if failed != nil && !raced(failed) {
		return false, failed
	}
	o.Turn = 0
	if failed == nil {
		o.Taken, o.Refused = o.Taken+taken, taken == 0
	}
	if taken > 0 {
		o.Spent += weight
	}
	_, err = b.write(ctx, ownedBy+distributor, revision, &o)
	return err == nil && taken > 0, cmp.Or(failed, err)
}
