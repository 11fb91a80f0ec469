package e2e

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// TestAPublicClientLibraryFollowsTheFeeds has a library that was written for the
// venue follow every channel of /ws. Nothing of it is changed but the URL and its
// clock: subscriptions, heartbeat, refusal, unsubscription and the subscriptions
// after a lost connection are the library's own.
func TestAPublicClientLibraryFollowsTheFeeds(t *testing.T) {
	t.Parallel()
	active := traders(t, 20)
	i := slices.IndexFunc(active, func(address string) bool { // of another mode only the venue itself knows a dex's account value
		truth := world.Venue.TruthOf(address)
		return truth.Mode == "default" && truth.Modes == 0
	})
	if i < 0 {
		t.Fatalf("none of these has margin of its own in each dex: %v", active)
	}
	user := active[i]
	c := startPublicClient(t, map[string]any{
		"coin": "BTC", "other": "ETH", "user": user,
		"clock": (60 * time.Second).Seconds() / feedIdle.Seconds(),
	})
	channels := []string{"l2Book", "rounded", "trades", "bbo", "candle", "userFills", "userNonFundingLedgerUpdates", "openOrders", "clearinghouseState"}
	for _, channel := range channels {
		c.did("subscribe " + channel)
	}
	opened := time.Now()
	for _, channel := range channels {
		checkPublic(t, channel, user, c.data(channel))
	}
	for range 3 {
		for _, channel := range []string{"l2Book", "trades", "bbo"} {
			checkPublic(t, channel, user, c.data(channel))
		}
	}
	c.command("unsubscribe bbo")
	c.command("refuse")
	if reason := c.did("refused").Error; !strings.Contains(reason, "interval") {
		t.Errorf("a refused subscription fails with %q", reason)
	}
	// The library's heartbeat keeps the connection beyond the idle limit.
	for c.did("pong"); time.Since(opened) < feedIdle+seenEvery+2*time.Second; {
		c.did("pong")
	}
	if c.drops > 0 {
		t.Fatalf("the connection was lost %d times", c.drops)
	}
	c.command("drop")
	c.did("open")
	for _, channel := range []string{"l2Book", "rounded", "trades", "candle", "clearinghouseState"} {
		checkPublic(t, channel, user, c.data(channel))
	}
}

// publicClient is a running client library.
type publicClient struct {
	t        *testing.T
	commands io.Writer
	lines    chan publicLine
	early    []publicLine // that nobody has waited for yet
	drops    int          // how often a connection ended
}

// publicLine is what the library prints: data of a channel, or what it did.
type publicLine struct {
	Channel string
	Data    json.RawMessage
	Did     string
	Error   string
}

// startPublicClient skips the test where npm cannot install the library.
func startPublicClient(t *testing.T, settings map[string]any) *publicClient {
	t.Helper()
	dir := filepath.Join(root, "localstack", "e2e", "publicclient")
	installing, done := context.WithTimeout(t.Context(), 2*time.Minute)
	defer done()
	if out, err := exec.CommandContext(installing, "make", "-C", root, "localstack/e2e/publicclient/node_modules/.package-lock.json").CombinedOutput(); err != nil {
		t.Skipf("npm cannot install the client library of %s: %v\n%s", dir, err, out)
	}
	argument := must.Get(json.Marshal(settings))(t)
	// Node 20 has its WebSocket behind a flag; later ones know the flag, too.
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(running, "node", "--experimental-websocket", "--no-warnings", filepath.Join(dir, "follow.mjs"), string(argument))
	complaints := new(strings.Builder)
	cmd.Stderr = complaints
	commands := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	c := &publicClient{t: t, commands: commands, lines: make(chan publicLine)}
	ended := make(chan struct{})
	go func() {
		defer close(c.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			var line publicLine
			if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
				line = publicLine{Did: "fail", Error: scanner.Text()}
			}
			select {
			case c.lines <- line:
			case <-ended:
			}
		}
	}()
	t.Cleanup(func() {
		close(ended)
		stop()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("the client library says %s", complaints)
		}
	})
	return c
}

// command has the library do something, and waits until it did.
func (c *publicClient) command(line string) {
	c.t.Helper()
	must.Get(fmt.Fprintln(c.commands, line))(c.t)
	if line != "refuse" {
		c.did(line)
	}
}

// did waits until the library did something.
func (c *publicClient) did(what string) publicLine {
	c.t.Helper()
	return c.await(what, func(l publicLine) bool { return l.Did == what })
}

// data waits for what the library passes to a listener of a channel.
func (c *publicClient) data(channel string) json.RawMessage {
	c.t.Helper()
	return c.await("data of "+channel, func(l publicLine) bool { return l.Channel == channel }).Data
}

func (c *publicClient) await(what string, wanted func(publicLine) bool) publicLine {
	c.t.Helper()
	for i, line := range c.early {
		if wanted(line) {
			c.early = append(c.early[:i], c.early[i+1:]...)
			return line
		}
	}
	patience := soon + feedIdle // a heartbeat comes every half of an idle limit
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case <-limit.C:
			c.t.Fatalf("not within %s: %s", patience, what)
		case line, ok := <-c.lines:
			switch {
			case !ok:
				c.t.Fatalf("the client library has ended before %s", what)
			case strings.HasPrefix(line.Did, "fail"):
				c.t.Fatalf("%s: %s", line.Did, line.Error)
			case line.Did == "url":
				url := world.State.WSBaseURL + hl + "/ws?" + world.State.Demo.SubKey.Sign(time.Now(), rand.Text()).Encode()
				must.Get(fmt.Fprintln(c.commands, "url "+url))(c.t)
			case line.Did == "close":
				c.drops++
				c.early = nil // of the connection that ended
			}
			if wanted(line) {
				return line
			}
			c.early = append(c.early, line)
		}
	}
}
