package source

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAHostPausesForAsLongAsItSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says string
		want time.Duration
	}{
		{"", time.Minute}, {"soon", time.Minute}, {"-5", time.Minute}, {"0", time.Minute},
		{"30", 30 * time.Second}, {"7200", 2 * time.Hour}, {"259200", 72 * time.Hour}, {"999999999", 72 * time.Hour},
		{"9223372037", 72 * time.Hour}, {"18446744073", 72 * time.Hour}, {"9223372036854775807", 72 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHost("http://localhost", 1)
			h.pause(c.says, time.Minute)
			if got := time.Until(h.cool.until); got != c.want {
				t.Errorf("after %q it pauses for %s, want %s", c.says, got, c.want)
			}
			h.pause("1", time.Minute) // of an answer that was on the way
			if got := time.Until(h.cool.until); got < c.want {
				t.Errorf("a later answer shortens it to %s", got)
			}
		})
	}
}
