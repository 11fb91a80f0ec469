package witness

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// maxWait bounds how long $connect may take.
const maxWait = 30 * time.Second

// connect opens a client's connection to a WebSocket API, once authorizer and
// $connect have let it pass. cdk-local itself opens it before.
func (w *Witness) connect(out http.ResponseWriter, r *http.Request, p *passage, id string) {
	if verdict := w.pass(r, id, ""); verdict.own {
		verdict.write(w, out, p, id)
		return
	}
	ctx, done := context.WithTimeout(r.Context(), maxWait)
	defer done()
	header := http.Header{passageHeader: {id}, "User-Agent": {r.UserAgent()}}
	inner, _, err := websocket.Dial(ctx, w.feeds[p.feed.Path]+"?"+r.URL.RawQuery, &websocket.DialOptions{HTTPHeader: header}) //nolint:bodyclose // there is none to close, says Dial
	if err != nil {
		w.refuse(out, p, id, fault)
		return
	}
	select {
	case answer := <-p.opened:
		if answer.StatusCode < http.StatusMultipleChoices {
			break
		}
		inner.CloseNow()
		maps.Copy(out.Header(), headerOf(answer.Headers))
		out.WriteHeader(answer.StatusCode)
		_, _ = io.WriteString(out, answer.Body)
		return
	case <-ctx.Done():
		inner.CloseNow()
		w.refuse(out, p, id, fault)
		return
	}
	outer, err := websocket.Accept(out, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // as AWS, which looks at no Origin
	if err != nil {
		inner.CloseNow()
		return
	}
	inner.SetReadLimit(-1)
	outer.SetReadLimit(maxPayload)
	w.tasks.Go(func() { relay(w.running, inner, outer) })
	w.tasks.Go(func() { relay(w.running, outer, inner) })
}

func headerOf(members map[string]string) http.Header {
	header := make(http.Header)
	for name, value := range members {
		header.Set(name, value)
	}
	return header
}

// relay forwards messages until a connection ends, and then ends the other one in
// the same way. API Gateway sends what is posted as text; cdk-local does not.
func relay(ctx context.Context, to, from *websocket.Conn) {
	for {
		kind, message, err := from.Read(ctx)
		if err == nil {
			if utf8.Valid(message) {
				kind = websocket.MessageText
			}
			err = to.Write(ctx, kind, message)
		}
		var closed websocket.CloseError
		switch {
		case err == nil:
			continue
		case errors.As(err, &closed):
			_ = to.Close(closed.Code, closed.Reason)
		default:
			to.CloseNow()
		}
		from.CloseNow()
		return
	}
}
