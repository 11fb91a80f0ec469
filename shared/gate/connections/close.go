package connections

import (
	"time"

	"quotary/shared/gate/keys"
)

// Idle is how long a client may stay without a message at least. Its last message may be
// younger than the last one that is recorded, by [SeenEvery], so it is closed that long
// after: never earlier than 60 s after its last message, and about 75 s after one that is
// recorded.
const Idle = 60 * time.Second

// Reason is why the service closes a connection, for logs and metrics.
type Reason string

// The reasons.
const (
	ReasonIdle                Reason = "no message for 60 s"
	ReasonFlood               Reason = "the client sent more messages or bytes than a connection may"
	ReasonStray               Reason = "it was left by a crash"
	ReasonGone                Reason = "the client is gone"
	ReasonAsked               Reason = "the client asked for it"
	ReasonKeyUnknown          Reason = "the sub-key was deleted"
	ReasonSecretReset         Reason = "the secret of the sub-key was reset"
	ReasonKeyDisabled         Reason = "the sub-key is disabled"
	ReasonKeyExpired          Reason = "the sub-key has expired"
	ReasonNotPermitted        Reason = "the level of the sub-key does not permit the feed"
	ReasonDistributorDisabled Reason = "the distributor is disabled"
)

// StateOf is what the status of a connection's sub-key means for the connection; known
// is false where the key was deleted.
func (c *Connection) StateOf(s keys.Status, known bool) KeyState {
	return KeyState{
		Unknown: !known, Disabled: s.Disabled, DistributorDisabled: s.DistributorDisabled, ExpiresAt: s.ExpiresAt,
		NotPermitted: !s.Level.Permits(c.Feed.Action()),
		// A status that is read may be older than the connection.
		SecretReset: s.Generation > c.Generation,
	}
}

// KeyState is what a sweep must know about a connection's sub-key.
type KeyState struct {
	Unknown             bool // it was deleted
	Disabled            bool
	DistributorDisabled bool
	ExpiresAt           time.Time // zero = never
	NotPermitted        bool      // its level does not open the feed
	SecretReset         bool      // the secret that opened the connection is not the key's any longer
}

// CloseReason returns why a connection is to be closed now, "" when it may stay.
// An idle one is to be removed with [Store.BeginRemoval], so that a message that
// comes in between keeps it.
func (c *Connection) CloseReason(now time.Time, k KeyState) Reason {
	switch {
	case k.Unknown:
		return ReasonKeyUnknown
	case k.DistributorDisabled:
		return ReasonDistributorDisabled
	case k.SecretReset:
		return ReasonSecretReset
	case k.Disabled:
		return ReasonKeyDisabled
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return ReasonKeyExpired
	case k.NotPermitted:
		return ReasonNotPermitted
	case now.Sub(c.Seen) >= Idle+SeenEvery:
		return ReasonIdle
	}
	return ""
}
