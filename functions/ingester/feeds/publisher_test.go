package feeds

import (
	"testing"

	"quotary/shared/gate/channel"
)

func TestEveryEntryOfTheRegistryHasItsPublisher(t *testing.T) {
	t.Parallel()
	want := map[string]bool{}
	for _, c := range channel.Channels {
		want[string(c.Name)] = true
	}
	for _, feed := range channel.Feeds {
		if feed != channel.FeedChannels {
			want[string(feed)] = true
		}
	}
	for name := range want {
		if publishers[name] == nil {
			t.Errorf("nobody publishes %s", name)
		}
	}
	for name := range publishers {
		if !want[name] {
			t.Errorf("%s is in no registry", name)
		}
	}
}
