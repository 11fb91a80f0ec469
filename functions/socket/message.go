package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/api"
	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/text/strictjson"
)

// maxMessage is the largest message, in bytes: the gateway's own limit.
const maxMessage = 128 << 10

// client is the sender of a message.
type client struct {
	connections.Message
	feed channel.Feed
	admission.Caller
}

// messageOf is a client's message as the store knows it. One whose time the gateway does
// not say is of now.
func (s *socket) messageOf(event *events.APIGatewayWebsocketProxyRequest, who admission.Caller) connections.Message {
	at := s.clock()
	if ms := event.RequestContext.RequestTimeEpoch; ms > 0 {
		at = time.UnixMilli(ms)
	}
	return connections.Message{
		Connection: event.RequestContext.ConnectionID, Key: who.AccessKey, Distributor: who.Distributor,
		At: at, ID: event.RequestContext.RequestID,
	}
}

// message answers one message of a client. The answer's status is always 200:
// the gateway sends its body to the client and looks at nothing else.
func (s *socket) message(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest, feed channel.Feed) answer {
	who, refusal := caller(event)
	if refusal != nil {
		return answer{status: http.StatusOK, body: errorObject(feed, refusal.Message, ""), reason: refusal.Reason, fault: refusal}
	}
	c := client{Message: s.messageOf(event, who), feed: feed, Caller: who}
	reply, err := s.handle(ctx, event, c)
	var reason catalog.Reason
	var wrong *api.Error
	var over *connections.LimitError
	switch err = refusalOf(err); {
	case errors.As(err, &wrong):
		reason = wrong.Reason
		err = s.store.Answer(ctx, c.Message, connections.Reply{Frame: errorObject(feed, wrong.Message, event.Body)})
	case errors.As(err, &over):
		reason = catalog.ReasonSubscriptionsExceeded
		err = s.store.Answer(ctx, c.Message, connections.Reply{Frame: limitObject(over)})
	}
	switch {
	case errors.Is(err, connections.ErrFlood):
		return answer{status: http.StatusOK, reason: catalog.ReasonTooManyMessages, fault: s.shutOut(ctx, event, c)}
	case errors.Is(err, connections.ErrGone):
		// It was removed, as idle for example, and only does not know yet.
		return answer{status: http.StatusOK, fault: s.hangUp(ctx, event)}
	case err != nil:
		return answer{status: http.StatusOK, reason: catalog.ReasonInternal, fault: err,
			body: errorObject(feed, "internal error: the message was not carried out, send it again", event.Body)}
	}
	return answer{status: http.StatusOK, reason: reason, body: reply}
}

func (s *socket) handle(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest, c client) ([]byte, error) {
	ctx, read := readunits.WithBudget(ctx, s.readUnits)
	defer func() { s.meter.Read(c.Connection, s.spent(c.Caller, read)) }()
	count := s.meter.Message
	if isPing(c.feed, event.Body) {
		count = s.meter.Ping
	}
	if err := count(ctx, c.Connection, len(event.Body)); err != nil {
		return nil, err
	}
	if err := s.spending.Check(ctx, c.AccessKey, c.Caller.Distributor); err != nil {
		return nil, err
	}
	if event.IsBase64Encoded {
		return nil, strictjson.Errorf("a binary message is not accepted: send JSON as text")
	}
	if len(event.Body) > maxMessage {
		return nil, api.Refuse(catalog.ReasonBodyTooLarge, "the message is too large: at most 128 KiB are accepted")
	}
	if c.feed == channel.FeedChannels {
		return s.channelMessage(ctx, c, []byte(event.Body))
	}
	return s.addressMessage(ctx, c, []byte(event.Body))
}

// isPing reports whether a message asks for a pong, which the ingester sends: it knows up to
// where the client has events.
func isPing(feed channel.Feed, body string) bool {
	if len(body) > maxMessage {
		return false
	}
	m, err := strictjson.Decode([]byte(body), "the message")
	word := "type"
	if feed == channel.FeedChannels {
		word = "method"
	}
	if err == nil {
		_, err = m.Choice(word, "ping")
	}
	return err == nil
}

// slots returns how many subscriptions the client's sub-key may have, as it is set now:
// what the authorizer said is as old as the connection. A client that may not follow
// the feed any longer is refused here, and closed by the ingester; one that may not read the
// endpoint of the same content is refused that subscription alone.
func (s *socket) slots(ctx context.Context, c client, shows *catalog.Endpoint) (connections.Limits, error) {
	statuses, err := s.keys.Statuses(ctx, c.Caller.Distributor, []string{c.AccessKey})
	if err != nil {
		return connections.Limits{}, err
	}
	status, known := statuses[c.AccessKey]
	now := s.clock()
	conn := connections.Connection{Feed: c.feed, Seen: now, Generation: c.Generation}
	if why := conn.CloseReason(now, conn.StateOf(status, known)); why != "" {
		return connections.Limits{}, api.Refuse(reasonOf(why), "the subscription is refused: %s", why)
	}
	if shows != nil && !status.Level.Permits(shows.Access.Name) {
		return connections.Limits{}, api.Refuse(catalog.ReasonActionMissing, "the subscription is refused: the level of the sub-key does not list the action %s", shows.Access.Name)
	}
	return connections.Limits{
		Key: status.WSSubLimit, KeySince: status.WSSubSince, Distributor: status.DistributorWSSubLimit, DistributorSince: status.DistributorWSSubSince,
	}, nil
}

// reasonOf is a close reason as that of a refusal.
func reasonOf(why connections.Reason) catalog.Reason {
	switch why {
	case connections.ReasonKeyUnknown:
		return catalog.ReasonKeyDeleted
	case connections.ReasonSecretReset:
		return catalog.ReasonSecretReset
	case connections.ReasonKeyDisabled:
		return catalog.ReasonKeyDisabled
	case connections.ReasonKeyExpired:
		return catalog.ReasonKeyExpired
	case connections.ReasonNotPermitted:
		return catalog.ReasonActionMissing
	case connections.ReasonDistributorDisabled:
		return catalog.ReasonDistributorDisabled
	case connections.ReasonFlood:
		return catalog.ReasonTooManyMessages
	case connections.ReasonIdle, connections.ReasonStray, connections.ReasonGone, connections.ReasonAsked:
	}
	return catalog.ReasonInternal // of the connection, which no message is refused for
}

// maxQuoted is how long a message may be, in bytes, that an error quotes.
const maxQuoted = 1 << 10

// errorObject is the reply that says what is wrong with a message. On /ws it is also
// what the venue's own clients take for an error: they find the message that
// failed by its JSON inside the text.
func errorObject(feed channel.Feed, text, message string) []byte {
	type plain struct {
		Error string `json:"error"`
	}
	if feed != channel.FeedChannels {
		return object(plain{text})
	}
	data := text
	var quoted bytes.Buffer
	if json.Compact(&quoted, []byte(message)) == nil && quoted.Len() <= maxQuoted {
		data += ": " + quoted.String()
	}
	return object(struct {
		Channel string `json:"channel"`
		Data    string `json:"data"`
		plain
	}{"error", data, plain{text}})
}

func limitObject(over *connections.LimitError) []byte {
	return object(struct {
		Error   string `json:"error"`
		Limit   int64  `json:"limit"`
		Current int64  `json:"current"`
	}{"subscription limit exceeded", over.Limit, over.Current})
}

// object returns a value as JSON; it holds nothing that could not be written.
func object(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
