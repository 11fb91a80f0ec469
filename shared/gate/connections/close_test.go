package connections_test

import (
	"testing"
	"time"

	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
)

func TestAConnectionIsClosedForItsReason(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		idle time.Duration
		key  connections.KeyState
		want connections.Reason
	}{
		{0, connections.KeyState{}, ""},
		{74_999 * time.Millisecond, connections.KeyState{}, ""},
		{75 * time.Second, connections.KeyState{}, connections.ReasonIdle},
		{0, connections.KeyState{Unknown: true}, connections.ReasonKeyUnknown},
		{0, connections.KeyState{Disabled: true}, connections.ReasonKeyDisabled},
		{0, connections.KeyState{DistributorDisabled: true}, connections.ReasonDistributorDisabled},
		{0, connections.KeyState{ExpiresAt: start.Add(time.Millisecond)}, ""},
		{0, connections.KeyState{ExpiresAt: start}, connections.ReasonKeyExpired},
		{0, connections.KeyState{NotPermitted: true}, connections.ReasonNotPermitted},
		{0, connections.KeyState{SecretReset: true}, connections.ReasonSecretReset},
		{time.Hour, connections.KeyState{Disabled: true}, connections.ReasonKeyDisabled},
	} {
		c := connections.Connection{Seen: start.Add(-tt.idle)}
		if got := c.CloseReason(start, tt.key); got != tt.want {
			t.Errorf("idle for %s with %+v: %q, want %q", tt.idle, tt.key, got, tt.want)
		}
	}
}

// A status may be read before a reset that the connection comes after.
func TestAConnectionEndsWithTheSecretThatOpenedIt(t *testing.T) {
	t.Parallel()
	for opened := range int64(3) {
		for now := range int64(3) {
			c := connections.Connection{Generation: opened}
			if got, want := c.StateOf(keys.Status{Generation: now}, true).SecretReset, now > opened; got != want {
				t.Errorf("opened by %d, now %d: %t", opened, now, got)
			}
		}
	}
}
