package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"quotary/localstack/client"
	"quotary/shared/testing/testenv"
)

// world is a witness before a gateway that does what cdk-local does with one path,
// and one WebSocket API.
type world struct {
	*Witness
	t          *testing.T
	containers map[string]*httptest.Server // by function
	posted     chan string                 // to the connection

	mu     sync.Mutex
	events map[string]object // the last, by function
	says   map[string]string // what a function answers; an errorMessage is a failure
}

const (
	allow = `{"principalId":"k","policyDocument":{"Statement":[{"Effect":"Allow"}]},"context":{"key":"k"}}`
	deny  = `{"principalId":"k","policyDocument":{"Statement":[{"Effect":"Deny"}]},"context":{"reason":"not \"yours\""}}`
)

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, containers: make(map[string]*httptest.Server), posted: make(chan string, 8), events: make(map[string]object),
		says: map[string]string{"authorizer": allow, "perp-market": `{"statusCode":200,"body":"data"}`, "socket": `{"statusCode":200}`},
	}
	functions := httptest.NewServer(http.HandlerFunc(w.function))
	gateway := httptest.NewServer(http.HandlerFunc(w.gateway))
	running, cancel := context.WithCancel(t.Context())
	ws := "ws" + strings.TrimPrefix(gateway.URL, "http") + "/stage"
	template := func(text string) string { return `{"error":"` + text + `","request_id":"$context.requestId"}` }
	w.Witness = &Witness{
		cfg: Config{Functions: functions.URL}, rest: gateway.URL, feeds: map[string]string{"/feed": ws}, running: running, http: http.DefaultClient,
		passages: make(map[string]*passage), connections: make(map[string]*connection),
		plan: &Plan{
			Feeds: map[string]*Feed{"/feed": {ID: "Feed", Path: "/feed", Variables: map[string]string{"feed": "feed"}}},
			Responses: map[string]Response{
				unauthorized:      {Status: 401, Template: template("sign it"), Headers: map[string]string{"Cache-Control": "'no-store'", "X-Request-Id": "context.requestId"}},
				accessDenied:      {Status: 403, Template: template("$context.authorizer.reason")},
				noToken:           {Status: 404, Template: template("no such endpoint")},
				authorizerFailure: {Status: 500, Template: template("internal error")},
				fault:             {Template: template("internal error")},
			},
		},
	}
	for name := range w.says {
		w.containers[name] = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { w.invocation(out, r, name) }))
	}
	front := httptest.NewServer(http.HandlerFunc(w.serve))
	w.BaseURL, w.WSBaseURL = front.URL+"/api", "ws"+strings.TrimPrefix(front.URL, "http")+"/api"
	t.Cleanup(func() {
		cancel()
		w.tasks.Wait()
		for _, server := range w.containers {
			server.Close()
		}
		front.Close()
		gateway.Close()
		functions.Close()
	})
	return w
}

// function answers what it is to say.
func (w *world) function(out http.ResponseWriter, r *http.Request) {
	name := strings.Split(r.URL.Path, "/")[3]
	var event object
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events[name] = event
	if strings.Contains(w.says[name], "errorMessage") {
		out.Header().Set("X-Amz-Function-Error", "Unhandled")
	}
	_, _ = io.WriteString(out, w.says[name])
}

func (w *world) say(function, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.says[function] = what
}

func (w *world) event(function string) object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events[function]
}

// invokeIn invokes a function in its container.
func (w *world) invokeIn(function string, event object) (said struct {
	StatusCode     int
	Body           string
	ErrorMessage   string
	PolicyDocument struct{ Statement []struct{ Effect string } }
}) {
	text, err := json.Marshal(event)
	if err != nil {
		w.t.Error(err)
	}
	res, err := http.Post(w.containers[function].URL, "application/json", bytes.NewReader(text))
	if err != nil {
		w.t.Error(err)
		return said
	}
	defer res.Body.Close()
	_ = json.NewDecoder(res.Body).Decode(&said)
	return said
}

// gateway does what cdk-local does.
func (w *world) gateway(out http.ResponseWriter, r *http.Request) {
	headers := object{passageHeader: r.Header.Get(passageHeader)}
	own := func(status int, text string) {
		out.WriteHeader(status)
		_, _ = io.WriteString(out, `{"message":"`+text+`"}`)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/stage/@connections/"):
		text, _ := io.ReadAll(r.Body)
		w.posted <- string(text)
	case r.URL.Path == "/stage":
		conn, err := websocket.Accept(out, r, nil)
		if err != nil {
			w.t.Error(err)
			return
		}
		defer conn.CloseNow()
		about := func(route string) object { return object{"connectionId": "c", "routeKey": route, "requestId": "r"} }
		if w.invokeIn("socket", object{"headers": headers, "requestContext": about("$connect")}).StatusCode != http.StatusOK {
			return
		}
		for {
			_, message, err := conn.Read(w.running)
			if err != nil {
				w.invokeIn("socket", object{"requestContext": about("$disconnect")})
				return
			}
			w.invokeIn("socket", object{"requestContext": about("$default"), "body": string(message)})
			if err := conn.Write(w.running, websocket.MessageBinary, message); err != nil {
				return
			}
		}
	case strings.HasPrefix(r.URL.Path, "/coin/") || r.URL.Path == "/feed":
		coin := strings.TrimPrefix(r.URL.Path, "/coin/")
		said := w.invokeIn("authorizer", object{"headers": headers, "path": r.URL.Path, "httpMethod": r.Method, "pathParameters": object{"coin": coin}})
		switch answer := w.invokeIn("perp-market", object{}); {
		case said.ErrorMessage != "" || said.PolicyDocument.Statement[0].Effect != "Allow":
			own(http.StatusForbidden, "Forbidden")
		case r.URL.Path == "/feed":
		case answer.ErrorMessage != "":
			own(http.StatusBadGateway, "Internal server error")
		default:
			out.WriteHeader(answer.StatusCode)
			_, _ = io.WriteString(out, answer.Body)
		}
	default:
		own(http.StatusNotFound, "Not Found")
	}
}

func TestARefusalHasTheGatewayResponseOfItsKind(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, authorizer, function string
		status                     int
		message                    string
	}{
		"none":             {"/coin/BTC", allow, `{"statusCode":200,"body":"data"}`, 200, ""},
		"of a function":    {"/coin/BTC", allow, `{"statusCode":403,"body":"{\"success\":false,\"error\":\"no\"}"}`, 403, "no"},
		"unauthorized":     {"/coin/BTC", `{"errorMessage":"Unauthorized"}`, "", 401, "sign it"},
		"denied":           {"/coin/BTC", deny, "", 403, `not "yours"`},
		"failed":           {"/coin/BTC", `{"errorMessage":"crash"}`, "", 500, "internal error"},
		"an unknown path":  {"/missing", allow, "", 404, "no such endpoint"},
		"a function fails": {"/coin/BTC", allow, `{"errorMessage":"crash"}`, 502, "internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.say("authorizer", tt.authorizer)
			w.say("perp-market", tt.function)
			answer, err := client.Client{BaseURL: w.BaseURL}.Do(t.Context(), client.Key{}, http.MethodGet, tt.path, nil, nil)
			if err != nil || answer.Status != tt.status {
				t.Fatalf("status %d, want %d, %v: %s", answer.Status, tt.status, err, answer.Body)
			}
			var body struct {
				Error     string
				RequestID string `json:"request_id"`
			}
			_ = json.Unmarshal(answer.Body, &body)
			if body.Error != tt.message {
				t.Errorf("%s", answer.Body)
			}
			if tt.status == 401 && (body.RequestID == "" || answer.Header.Get("X-Request-Id") != body.RequestID || answer.Header.Get("Cache-Control") != "no-store") {
				t.Errorf("%s with %v", answer.Body, answer.Header)
			}
			if resource := w.event("authorizer")["resource"]; tt.path == "/coin/BTC" && resource != "/coin/{coin}" {
				t.Errorf("the authorizer is asked for %v", resource)
			}
		})
	}
}

func TestAHandshakePassesAuthorizerAndFunction(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		authorizer, function string
		status               int
		said                 string
	}{
		"unsigned": {`{"errorMessage":"Unauthorized"}`, "", 401, "sign it"},
		"denied":   {deny, "", 403, "not "},
		"refused":  {allow, `{"statusCode":429,"body":"too many"}`, 429, "too many"},
		"a crash":  {allow, `{"errorMessage":"crash"}`, 500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.say("authorizer", tt.authorizer)
			w.say("socket", tt.function)
			_, res, err := websocket.Dial(t.Context(), w.WSBaseURL+"/feed", nil)
			if err == nil || res == nil {
				t.Fatalf("connected: %v", err)
			}
			text, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.status || !strings.Contains(string(text), tt.said) {
				t.Errorf("status %d, want %d: %s", res.StatusCode, tt.status, text)
			}
		})
	}
}

func TestAConnectionIsWhatTheFunctionExpects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn, _, err := websocket.Dial(t.Context(), w.WSBaseURL+"/feed?a=b", nil) //nolint:bodyclose // there is none to close, says Dial
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	asked := w.event("authorizer")
	if variables, _ := asked["stageVariables"].(object); variables["feed"] != "feed" || asked["resource"] != nil || asked["httpMethod"] != nil {
		t.Errorf("the authorizer is asked %v", asked)
	}
	checkEvent(t, w, "$connect")
	for _, message := range []string{"pong", "crash"} {
		w.say("socket", map[string]string{"pong": `{"statusCode":200,"body":"pong"}`, "crash": `{"errorMessage":"crash"}`}[message])
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
		kind, text, err := conn.Read(t.Context())
		if err != nil || kind != websocket.MessageText || string(text) != message {
			t.Fatalf("pushed %q as %v, %v", text, kind, err)
		}
		want := map[string]string{"pong": "pong", "crash": `{"connectionId":"c","message":"Internal server error","requestId":"r"}`}[message]
		if got := <-w.posted; got != want {
			t.Errorf("the client receives %s, want %s", got, want)
		}
		checkEvent(t, w, "$default")
	}
	w.say("socket", `{"statusCode":200}`)
	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	testenv.Until(t, "the function learns of the end", func() bool {
		about, _ := w.event("socket")["requestContext"].(object)
		return about["routeKey"] == "$disconnect"
	})
	checkEvent(t, w, "$disconnect")
}

// checkEvent wants an event that names its feed, where its connection is reached
// and who was let in.
func checkEvent(t *testing.T, w *world, route string) {
	t.Helper()
	event := w.event("socket")
	about, _ := event["requestContext"].(object)
	variables, _ := event["stageVariables"].(object)
	authorizer, _ := about["authorizer"].(object)
	if about["routeKey"] != route || variables["feed"] != "feed" || variables["management"] != w.rest+"/stage" || authorizer["key"] != "k" || authorizer["principalId"] != "k" {
		t.Errorf("%s is %v", route, event)
	}
}
