package connections

import (
	"time"

	"quotary/shared/channel"
)

// Subscribed is a subscription as it stands in the table.
type Subscribed struct {
	Connection string // id
	channel.Subscription
	Reply []byte    // the frame that goes to the client before the snapshot
	At    time.Time // when it was made
	// Found means that the subscription was found by a scan: it may have been
	// answered already, by an ingester that has ended since.
	Found bool
}
