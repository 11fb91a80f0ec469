package feeds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// TestRepliesAndFramesComeInTheOrderOfTheMessages has a client send many messages
// without waiting for any answer, while books come.
func TestRepliesAndFramesComeInTheOrderOfTheMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, stop := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedChannels)
	w.eventually("it is known", func() bool { _, ok := f.hub.Stats("one"); return ok })
	const rounds = 20
	var want []string
	book := book("BTC", 0, "105056.0")
	for range rounds {
		book.Time++
		f.publish(&market.Events{Books: []market.Book{book}})
		w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC"})
		want = append(want, `{"reply":{"of":"l2Book","activeCount":1}}`)
		w.answer("one", "already subscribed")
		book.Time++
		f.publish(&market.Events{Books: []market.Book{book}})
		must.Get(w.table.Unsubscribe(t.Context(), w.message("one"), channel.Subscription{Type: channel.L2Book, Coin: "BTC"}))(t)
		w.answer("one", "unsubscribed")
		want = append(want, "already subscribed", "unsubscribed")
	}
	isReply := func(frame string) bool { return !strings.Contains(frame, `"channel"`) }
	w.eventually("every reply is sent", func() bool {
		return len(slices.DeleteFunc(w.frames("one"), func(s string) bool { return !isReply(s) })) >= len(want)
	})
	var replies []string
	following := false
	for _, frame := range w.frames("one") {
		switch {
		case isReply(frame):
			replies = append(replies, frame)
			following = strings.HasPrefix(frame, `{"reply"`) || following && frame != "unsubscribed"
		case !following:
			t.Errorf("after the replies %v comes %s", replies, frame)
		}
	}
	if !slices.Equal(replies, want) {
		t.Errorf("the replies are %v", replies)
	}

	// What was sent is forgotten; what was not comes after a restart.
	w.eventually("the replies are forgotten", func() bool { return len(w.left("one")) == 0 })
	stop()
	w.answer("one", "first of the dead time")
	w.subscribe("one", channel.Subscription{Type: channel.Trades, Coin: "BTC"})
	w.answer("one", "last of the dead time")
	n := len(w.frames("one"))
	w.run()
	got := w.sent("one", n+4)[n:]
	got = slices.DeleteFunc(got, func(s string) bool { return !isReply(s) })
	if fmt.Sprint(got) != `[first of the dead time {"reply":{"of":"trades","activeCount":1}} last of the dead time]` {
		t.Errorf("after the restart come %v", got)
	}
}

// answer leaves a reply.
func (w *world) answer(id, text string) {
	w.t.Helper()
	must.Do(w.t, w.table.Answer(w.t.Context(), w.message(id), connections.Reply{Frame: []byte(text)}))
}

// left are the replies that stand in the table: what feeds that start now would
// be sent.
func (w *world) left(id string) (replies []string) {
	w.t.Helper()
	for e := range must.All(w.t, connections.NewFollower(w.table, w.db, w.streams).Follow(w.t.Context())) {
		switch e := e.(type) {
		case connections.Answer:
			if e.Connection == id {
				replies = append(replies, string(e.Reply.Frame))
			}
		case connections.Live:
			return replies
		}
	}
	return replies
}
