package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"quotary/shared/catalog"
)

// passage is one request on its way through cdk-local, which does not say what
// became of it there.
type passage struct {
	feed    *Feed              // to connect to; nil for a request to the REST API
	refusal string             // the gateway response that the authorizer asked for; empty for none
	context object             // what the authorizer said, of principalId and context
	opened  chan proxyResponse // what $connect answered
}

// connection is one to a WebSocket API.
type connection struct {
	feed       *Feed
	authorizer object // member of requestContext
}

// proxyResponse is what a function answers to a gateway.
type proxyResponse struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

// passageHeader carries the id of a passage.
const passageHeader = "Witness-Passage"

func (w *Witness) passage(event object) *passage {
	w.mu.Lock()
	defer w.mu.Unlock()
	headers, _ := event["headers"].(object)
	for name, value := range headers {
		if id, ok := value.(string); ok && strings.EqualFold(name, passageHeader) {
			return w.passages[id]
		}
	}
	return nil
}

// invocation runs a function with an event of cdk-local.
func (w *Witness) invocation(out http.ResponseWriter, r *http.Request, function string) {
	var event object
	decoder := json.NewDecoder(http.MaxBytesReader(out, r.Body, maxPayload))
	decoder.UseNumber()
	if err := decoder.Decode(&event); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	settle := func(outcome) {}
	switch function {
	case catalog.FunctionAuthorizer:
		settle = w.beforeAuthorizer(event)
	case catalog.FunctionSocket:
		settle = w.beforeSocket(r.Context(), event)
	}
	result, err := w.invoke(r.Context(), function, event)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadGateway)
		return
	}
	settle(result)
	out.Header().Set("Content-Type", "application/json")
	_, _ = out.Write(result.payload) // cdk-local that is gone needs no answer
}

// maxPayload is Lambda's limit of events and answers.
const maxPayload = 6 << 20

// outcome is what came of an invocation.
type outcome struct {
	payload []byte
	failed  bool // the payload is the error
}

// into decodes the payload into a struct, which stays as it is where the payload
// does not fit.
func (o outcome) into(value any) {
	_ = json.Unmarshal(o.payload, value) // a function that answers nonsense has failed
}

func (w *Witness) invoke(ctx context.Context, function string, event object) (outcome, error) {
	text, err := json.Marshal(event)
	if err != nil {
		return outcome{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.cfg.Functions+"/2015-03-31/functions/"+function+"/invocations", bytes.NewReader(text))
	if err != nil {
		return outcome{}, err
	}
	res, err := w.http.Do(req)
	if err != nil {
		return outcome{}, fmt.Errorf("invoke %s: %w", function, err)
	}
	defer res.Body.Close()
	payload, err := io.ReadAll(io.LimitReader(res.Body, maxPayload))
	if err != nil {
		return outcome{}, fmt.Errorf("invoke %s: %w", function, err)
	}
	return outcome{payload, res.StatusCode != http.StatusOK || res.Header.Get("X-Amz-Function-Error") != ""}, nil
}

// beforeAuthorizer completes an event of the authorizer. cdk-local gives the path in
// place of the resource, which on API Gateway has the names of the parameters. The
// event of a handshake names neither, nor a method, but has stage variables.
func (w *Witness) beforeAuthorizer(event object) func(outcome) {
	p := w.passage(event)
	if p == nil {
		return func(outcome) {}
	}
	if p.feed != nil {
		for _, name := range []string{"resource", "path", "httpMethod", "pathParameters"} {
			delete(event, name)
		}
		event["stageVariables"] = w.variables(p.feed)
	} else {
		path, _ := event["path"].(string)
		parameters, _ := event["pathParameters"].(object)
		event["resource"] = resourceOf(path, parameters)
	}
	return func(o outcome) {
		var said struct {
			ErrorMessage string `json:"errorMessage"`
			PrincipalID  string `json:"principalId"`
			Context      object `json:"context"`
		}
		o.into(&said)
		w.mu.Lock()
		defer w.mu.Unlock()
		if o.failed {
			p.refusal = authorizerFailure
			if said.ErrorMessage == "Unauthorized" {
				p.refusal = unauthorized
			}
			return
		}
		p.context = object{"principalId": said.PrincipalID}
		maps.Copy(p.context, said.Context)
	}
}

func resourceOf(path string, parameters object) string {
	segments := strings.Split(path, "/")
	for name, value := range parameters {
		if i := slices.Index(segments, fmt.Sprint(value)); i >= 0 {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// variables are the stage variables of a WebSocket API as it is served here.
func (w *Witness) variables(feed *Feed) map[string]string {
	variables := maps.Clone(feed.Variables)
	variables[catalog.VariableManagement] = w.management(feed)
	return variables
}

// management is the base address of the management API that has the connections
// of a feed.
func (w *Witness) management(feed *Feed) string {
	return "http" + strings.TrimPrefix(w.feeds[feed.Path], "ws")
}

// beforeSocket completes an event of the function that serves the WebSocket APIs,
// and sees to what it answers.
func (w *Witness) beforeSocket(ctx context.Context, event object) func(outcome) {
	about, _ := event["requestContext"].(object)
	id, _ := about["connectionId"].(string)
	route, _ := about["routeKey"].(string)
	p := w.passage(event)
	w.mu.Lock()
	c := w.connections[id]
	if route == "$connect" && p != nil {
		c = &connection{feed: p.feed, authorizer: p.context}
		w.connections[id] = c
	}
	if route == "$disconnect" {
		delete(w.connections, id)
	}
	w.mu.Unlock()
	if c == nil {
		return func(outcome) {}
	}
	event["stageVariables"] = w.variables(c.feed)
	about["authorizer"] = c.authorizer
	return func(o outcome) {
		answer := proxyResponse{StatusCode: http.StatusInternalServerError}
		if !o.failed {
			o.into(&answer)
		}
		switch route {
		case "$connect":
			p.opened <- answer
		case "$default":
			if o.failed {
				text, _ := json.Marshal(object{"message": "Internal server error", "connectionId": id, "requestId": about["requestId"]})
				answer.Body = string(text)
			}
			w.reply(ctx, c, id, answer.Body)
		}
	}
}

// reply sends what $default answered to the client, if anything.
func (w *Witness) reply(ctx context.Context, c *connection, id, text string) {
	if text == "" {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.management(c.feed)+"/@connections/"+url.PathEscape(id), strings.NewReader(text))
	if err != nil {
		return
	}
	if res, err := w.http.Do(req); err == nil { // a client that is gone hears nothing
		res.Body.Close()
	}
}
