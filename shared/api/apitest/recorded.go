package apitest

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/testing/must"
)

// Recorded is the request of a golden answer without its signature. Those of a
// package stand in testdata/requests.json by the names of the golden files; with
// them the golden files are the examples of the public document.
type Recorded struct {
	Endpoint string              `json:"endpoint"` // GET /v2/coin
	Path     map[string]string   `json:"path,omitempty"`
	Query    map[string][]string `json:"query,omitempty"`
	Body     json.RawMessage     `json:"body,omitempty"`
}

// record is the request of an event, nil where no endpoint answers it.
func record(event *events.APIGatewayProxyRequest) *Recorded {
	endpoint := find(event.HTTPMethod, event.Resource)
	if endpoint == nil {
		return nil
	}
	r := &Recorded{Endpoint: endpoint.String(), Query: event.MultiValueQueryStringParameters, Path: make(map[string]string)}
	for name, value := range endpoint.Values(event.PathParameters) {
		if decoded, err := url.PathUnescape(value); err == nil {
			r.Path[name] = decoded
		}
	}
	if json.Valid([]byte(event.Body)) {
		r.Body = json.RawMessage(event.Body)
	}
	return r
}

// naming returns the request with texts replaced.
func (r *Recorded) naming(replace func(string) string) *Recorded {
	if r == nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return r
	}
	named := new(Recorded)
	if json.Unmarshal([]byte(replace(string(text))), named) != nil {
		return r
	}
	return named
}

// recording guards the file of requests, which parallel tests share.
var recording sync.Mutex

// golden compares the request of a golden answer with the recorded one, or records
// it under -update.
func (r *Recorded) golden(t testing.TB, name string) {
	t.Helper()
	recording.Lock()
	defer recording.Unlock()
	path := filepath.Join("testdata", "requests.json")
	all := make(map[string]*Recorded)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !*Update {
		t.Errorf("the requests of golden answers (run with -update to write them): %v", err)
		return
	}
	if *Update {
		all[name] = r
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		must.Do(t, encoder.Encode(all))
		must.Do(t, os.WriteFile(path, text.Bytes(), 0o644))
		return
	}
	if have, want := compact(t, r), compact(t, all[name]); have != want {
		t.Errorf("%s answers another request than %s says (run with -update to accept):\ngot  %s\nwant %s", name, path, have, want)
	}
}

func compact(t testing.TB, r *Recorded) string {
	t.Helper()
	text := must.Get(json.Marshal(r))(t)
	var out bytes.Buffer
	must.Do(t, json.Compact(&out, text))
	return strings.TrimSpace(out.String())
}
