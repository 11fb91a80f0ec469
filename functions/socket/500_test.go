package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/store/schema"
)

func TestAFaultOfTheTableIsA500WithoutDetails(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.peer(w.SubKey, channel.FeedChannels)
	w.socket.store = connections.New(w.DB, "no-such-table", w.Now)
	w.socket.meter = connections.NewMeter(w.socket.store, budget)
	status, body := p.invoke(p.event("$connect", "", nil))
	if status != http.StatusInternalServerError || strings.Contains(body, "table") || !strings.Contains(body, "internal error") {
		t.Errorf("%d %s", status, body)
	}
	if !strings.Contains(w.logs.String(), `"level":"ERROR"`) {
		t.Error("the fault is not in the log")
	}
	if got := p.send(`{"method":"ping"}`); !strings.Contains(got, `"error":"internal error`) || strings.Contains(got, "table") {
		t.Errorf("a message: %s", got)
	}
	if status, _ := p.invoke(p.event("$disconnect", "", nil)); status != http.StatusInternalServerError {
		t.Errorf("a disconnect: %d", status)
	}
}

func TestAnAPIWithoutAFeedIsAFault(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.peer(w.SubKey, "prices")
	for _, route := range []string{"$connect", "$default", "$disconnect"} {
		if status, body := p.invoke(p.event(route, "", nil)); status != http.StatusInternalServerError || body != "" {
			t.Errorf("%s: %d %s", route, status, body)
		}
	}
}

func TestAStalledStoreIsAnsweredAndLoggedBeforeTheInvocationEnds(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.peer(w.SubKey, channel.FeedChannels)
	options := w.DB.Options()
	options.HTTPClient = stalled{}
	w.socket.store = connections.New(dynamodb.New(options), w.Prefix+schema.ConnectionsTable, w.Now)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	res, err := w.socket.Invoke(ctx, p.event("$connect", "", nil))
	if err != nil || res.StatusCode != http.StatusInternalServerError {
		t.Errorf("%d %s, %v", res.StatusCode, res.Body, err)
	}
	if ctx.Err() != nil {
		t.Error("nothing was left of the invocation's time")
	}
	if !strings.Contains(w.logs.String(), `"status":500`) {
		t.Errorf("the log says %s", w.logs)
	}
}
