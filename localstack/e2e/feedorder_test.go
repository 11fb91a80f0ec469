package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quotary/shared/testing/must"
)

// TestRepliesComeInTheOrderOfTheMessages sends many messages without waiting for
// an answer. Every reply must come in its turn, and between the replies that
// begin and end a subscription its snapshot, or nothing.
func TestRepliesComeInTheOrderOfTheMessages(t *testing.T) {
	t.Parallel()
	key := issue(t, register(t, nil), map[string]any{"ws_sub_limit": 2})
	s := connect(t, key, "/ws")
	book := map[string]any{"type": "l2Book", "coin": "BTC"}
	var want []string
	send := func(answer, message string) {
		want = append(want, answer)
		s.send(message)
	}
	for range 5 {
		send("subscribe l2Book subscribed 1", subscription("subscribe", book))
		send("subscribe l2Book alreadySubscribed 1", subscription("subscribe", book))
		send("subscribe userFills  0", subscription("subscribe", map[string]any{"type": "userFills", "user": "0x0000000000000000000000000000000000000001"}))
		send("subscription limit exceeded", subscription("subscribe", map[string]any{"type": "trades", "coin": "BTC"}))
		send("the message must be one JSON object", "nonsense")
		send("unsubscribe userFills  0", subscription("unsubscribe", map[string]any{"type": "userFills", "user": "0x0000000000000000000000000000000000000001"}))
		send("unsubscribe l2Book unsubscribed 0", subscription("unsubscribe", book))
		send("unsubscribe l2Book notSubscribed 0", subscription("unsubscribe", book))
	}
	var got []string
	s.await("the last reply", 4*soon, func(p pushed) bool {
		var reply struct {
			Method, Status string
			ActiveCount    int
			Subscription   struct{ Type string }
		}
		var refused struct{ Error string }
		switch {
		case p.Channel == "subscriptionResponse":
			must.Do(t, json.Unmarshal(p.Data, &reply))
			got = append(got, fmt.Sprintln(reply.Method, reply.Subscription.Type, reply.Status, reply.ActiveCount))
		case json.Unmarshal([]byte(p.raw), &refused) == nil && refused.Error != "":
			got = append(got, refused.Error)
		case p.Channel == "l2Book" || p.Channel == "userFills":
			begun, ended := lastWith(got, "subscribe "+p.Channel), lastWith(got, "unsubscribe "+p.Channel)
			if begun <= ended {
				t.Errorf("after %q comes %.80s", got, p.raw)
			}
		}
		return len(got) == len(want)
	})
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the replies are %q", got)
	}
}

// lastWith is the index of the last text with a prefix, -1 where there is none.
func lastWith(list []string, prefix string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if strings.HasPrefix(list[i], prefix) {
			return i
		}
	}
	return -1
}
