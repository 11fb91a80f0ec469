package connections_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// counted is a world whose requests are counted, and one that never waits.
func counted(t *testing.T) (*world, *awsrules.Rules) {
	t.Helper()
	w := open(t)
	rules := awsrules.New(t)
	rules.Hold, rules.Latency, rules.ReadUnits, rules.WriteUnits = 0, 0, 1e9, 1e9
	w.Store = connections.New(rules.DynamoDB(w.db), w.table, w.clock.Now)
	return w, rules
}

// inAMessage is how many addresses fit into the largest message.
const inAMessage = 2700

// What a client unsubscribes is remembered for messages that are carried out at the same
// time, at the cost of its own message alone.
func TestWhatWasUnsubscribedCostsNothingLater(t *testing.T) {
	t.Parallel()
	w, rules := counted(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedFills), free))
	later := time.Duration(0)
	next := func() connections.Message { // at the time of the clock
		m := w.message("a=")
		m.At = m.At.Add(later)
		return m
	}
	must.Do(t, w.AddAddresses(t.Context(), next(), addressRange(0, inAMessage), free, says("added")))
	cost := func(do func() error) awsrules.Counts {
		t.Helper()
		rules.Take()
		must.Do(t, do())
		return rules.Take()
	}
	messages := map[string]func() error{
		"subscribe to a followed one":    func() error { return w.AddAddresses(t.Context(), next(), addressRange(0, 1), free, says("again")) },
		"subscribe to a new one":         func() error { return w.AddAddresses(t.Context(), next(), addressRange(5000, 5001), free, says("new")) },
		"unsubscribe the new one":        func() error { return w.RemoveAddresses(t.Context(), next(), addressRange(5000, 5001)) },
		"unsubscribe one never followed": func() error { return w.RemoveAddresses(t.Context(), next(), addressRange(9000, 9001)) },
	}
	order := []string{"subscribe to a followed one", "subscribe to a new one", "unsubscribe the new one", "unsubscribe one never followed"}
	before := map[string]awsrules.Counts{}
	for _, name := range order {
		before[name] = cost(messages[name])
	}
	const removals = 12
	for i := range removals {
		c := cost(func() error {
			return w.RemoveAddresses(t.Context(), next(), addressRange((i+4)*inAMessage, (i+5)*inAMessage))
		})
		if i == 0 {
			before["remove"] = c
		} else if c.Reads > before["remove"].Reads || c.Writes > before["remove"].Writes {
			t.Errorf("removal %d reads %v and writes %v units, the first %v and %v", i, c.Reads, c.Writes, before["remove"].Reads, before["remove"].Writes)
		}
	}
	w.clock.Move(2 * time.Minute)
	later = 2 * time.Minute
	for _, name := range order {
		if c := cost(messages[name]); c.Reads > before[name].Reads || c.Writes > before[name].Writes {
			t.Errorf("%s: %v read and %v write units behind %d removals, %v and %v before", name, c.Reads, c.Writes, removals, before[name].Reads, before[name].Writes)
		}
	}
	ending := cost(func() error { _, err := w.Remove(t.Context(), "a="); return err })
	if most := before["remove"].Writes + 20; ending.Reads > 40 || ending.Writes > most {
		t.Errorf("the end of the connection behind %d removals reads %v and writes %v units, want at most 40 and %v", removals, ending.Reads, ending.Writes, most)
	}
	if r := balanced(t, w); len(r.Live)+len(r.Below) > 0 {
		t.Errorf("left are %v and %v", r.Live, r.Below)
	}
}

// A removal has read who follows an address, and the notes of those who ask for it again,
// when a later message asks for it again, and has ended before the removal goes on.
func TestAnAddressThatIsAskedForAgainDuringItsRemovalStays(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedFills), free))
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(0, 2), free, says("added")))
	removal, again := w.message("a="), w.message("a=")
	errAgain := errors.New("was not asked for again")
	slow := connections.New(storetest.Intercept(w.db, func(in any, send func() (any, error)) (any, error) {
		if _, ok := in.(*dynamodb.UpdateItemInput); ok && errAgain != nil {
			errAgain = w.AddAddresses(t.Context(), again, addressRange(0, 1), free, says("again"))
		}
		return send()
	}), w.table, w.clock.Now)
	must.Do(t, slow.RemoveAddresses(t.Context(), removal, addressRange(0, 2)))
	must.Do(t, errAgain)
	if live := balanced(t, w).Live["a="]; len(live) != 1 || !live[address(0)] {
		t.Errorf("followed are %v, want the one that was asked for again", live)
	}
}

// A change that a cap refuses costs as much as one that is made, and holds the shards of the
// cap meanwhile.
func TestWhatACapRefusesAgainWritesNothing(t *testing.T) {
	t.Parallel()
	w, rules := counted(t)
	caps := connections.Limits{Key: 20, Distributor: 300}
	connect := func(id string) error {
		return w.Connect(t.Context(), connection(id, "key", channel.FeedChannels), caps)
	}
	subscribe := func(coin string) (connections.Outcome, error) {
		return w.Subscribe(t.Context(), w.message("a="), trades(coin), connections.Limits{Key: 1}, reply)
	}
	must.Do(t, connect("a="))
	for i := range 19 {
		must.Do(t, connect(fmt.Sprint(i)))
	}
	must.Get(subscribe("BTC"))(t)
	for name, tt := range map[string]struct {
		request func() error
		reads   float64
	}{
		"a connection":   {func() error { return connect("over") }, 2}, // of two shards
		"a subscription": {func() error { _, err := subscribe("ETH"); return err }, 2},
	} {
		var over *connections.LimitError
		for try := range 3 {
			rules.Take()
			err := tt.request()
			if c := rules.Take(); !errors.As(err, &over) || try > 0 && (c.Writes > 0 || c.Reads > tt.reads) {
				t.Errorf("%s over the cap, try %d: it reads %v and writes %v units: %v", name, try, c.Reads, c.Writes, err)
			}
		}
	}
	if out, err := subscribe("BTC"); err != nil || out.Changed || out.Held != trades("BTC") {
		t.Errorf("what is subscribed already, under a cap that is met: %+v, %v", out, err)
	}
	must.Get(w.Remove(t.Context(), "0"))(t)
	must.Do(t, connect("a slot that is free"))
	must.Get(w.Unsubscribe(t.Context(), w.message("a="), trades("BTC")))(t)
	if out, err := subscribe("ETH"); err != nil || !out.Changed {
		t.Errorf("behind an end: %+v, %v", out, err)
	}
	balanced(t, w)
}
