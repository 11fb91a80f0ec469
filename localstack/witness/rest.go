package witness

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"quotary/shared/catalog"
)

// Gateway responses that a passage comes to.
const (
	accessDenied      = "ACCESS_DENIED"
	authorizerFailure = "AUTHORIZER_FAILURE"
	fault             = "DEFAULT_5XX"
	noToken           = "MISSING_AUTHENTICATION_TOKEN" // what API Gateway calls a path that it does not know
	tooLarge          = "REQUEST_TOO_LARGE"
	unauthorized      = "UNAUTHORIZED"
)

// maxBody is API Gateway's limit of a request.
const maxBody = 10 << 20

// serve takes a client's request through cdk-local.
func (w *Witness) serve(out http.ResponseWriter, r *http.Request) {
	path, _ := strings.CutPrefix(r.URL.Path, catalog.BasePath)
	id, p := rand.Text(), &passage{feed: w.plan.Feeds[path], opened: make(chan proxyResponse, 1)}
	w.mu.Lock()
	w.passages[id] = p
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.passages, id)
		w.mu.Unlock()
	}()
	if p.feed != nil {
		w.connect(out, r, p, id)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxBody))
	var over *http.MaxBytesError
	if errors.As(err, &over) {
		w.refuse(out, p, id, tooLarge)
		return
	} else if err != nil {
		return // the client is gone
	}
	w.pass(r, id, string(body)).write(w, out, p, id)
}

// answer is what cdk-local answers: what a function said, or a refusal of its own.
type answer struct {
	status int
	header http.Header
	body   []byte
	own    bool
}

// pass sends a request through cdk-local's REST API.
func (w *Witness) pass(r *http.Request, id, body string) answer {
	target := w.rest + strings.TrimPrefix(r.URL.EscapedPath(), catalog.BasePath)
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	failed := answer{status: http.StatusBadGateway, own: true}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, target, strings.NewReader(body))
	if err != nil {
		return failed
	}
	req.Header = r.Header.Clone()
	req.Header.Set(passageHeader, id)
	for _, name := range ofTheConnection {
		req.Header.Del(name)
	}
	res, err := w.http.Do(req)
	if err != nil {
		return failed
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	if a.body, err = io.ReadAll(io.LimitReader(res.Body, maxPayload)); err != nil {
		return failed
	}
	a.own = isOwn(a.body)
	if a.status == http.StatusMethodNotAllowed { // the one integration without a function: cdk-local writes constants into its headers only
		var said struct {
			RequestID string `json:"request_id"`
		}
		_ = json.Unmarshal(a.body, &said) // one without an id has no header
		a.header.Set("X-Request-Id", said.RequestID)
	}
	return a
}

// ofTheConnection are headers that say nothing of a request but of who sends it on.
var ofTheConnection = []string{"Connection", "Content-Length", "Date", "Keep-Alive", "Transfer-Encoding", "Upgrade",
	"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions", "Sec-Websocket-Protocol"}

// isOwn recognizes cdk-local's own answers by the only member that they have: no
// function answers so.
func isOwn(body []byte) bool {
	var members map[string]any
	return json.Unmarshal(body, &members) == nil && slices.Equal(slices.Collect(maps.Keys(members)), []string{"message"})
}

// write sends an answer to the client.
func (a answer) write(w *Witness, out http.ResponseWriter, p *passage, id string) {
	if a.own {
		w.mu.Lock()
		kind := a.kind(p)
		w.mu.Unlock()
		w.refuse(out, p, id, kind)
		return
	}
	for name, values := range a.header {
		if !slices.Contains(ofTheConnection, name) {
			out.Header()[name] = values
		}
	}
	out.WriteHeader(a.status)
	_, _ = out.Write(a.body) // a client that is gone is no concern here
}

// kind is the gateway response to a refusal. The caller holds the lock of p.
func (a answer) kind(p *passage) string {
	switch a.status {
	case http.StatusUnauthorized:
		return unauthorized
	case http.StatusForbidden:
		if p.refusal != "" {
			return p.refusal
		}
		return accessDenied
	case http.StatusNotFound:
		return noToken
	}
	return fault
}

// refuse answers with a gateway response. One that names no status leaves a fault's.
func (w *Witness) refuse(out http.ResponseWriter, p *passage, id, kind string) {
	r := w.plan.Responses[kind]
	w.mu.Lock()
	said := p.context
	w.mu.Unlock()
	lookup := func(name string) string {
		if name == "requestId" {
			return id
		}
		if member, ok := strings.CutPrefix(name, "authorizer."); ok {
			value, _ := said[member].(string)
			return value
		}
		return ""
	}
	for name, value := range r.Headers {
		if constant, ok := strings.CutPrefix(value, "'"); ok {
			out.Header().Set(name, strings.TrimSuffix(constant, "'"))
		} else {
			out.Header().Set(name, lookup(strings.TrimPrefix(value, "context.")))
		}
	}
	out.Header().Set("Content-Type", "application/json")
	status := r.Status
	if status == 0 {
		status = http.StatusBadGateway
	}
	out.WriteHeader(status)
	_, _ = io.WriteString(out, r.body(lookup))
}

var variable = regexp.MustCompile(`\$context\.[A-Za-z0-9.]*[A-Za-z0-9]`)

// body is the text of a template whose variables all stand in strings.
func (r Response) body(lookup func(string) string) string {
	return variable.ReplaceAllStringFunc(r.Template, func(name string) string {
		text, _ := json.Marshal(lookup(strings.TrimPrefix(name, "$context."))) // of a string
		return string(text[1 : len(text)-1])
	})
}
