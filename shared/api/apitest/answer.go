package apitest

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// Update is the flag -update of every test that uses this package: golden files are
// rewritten.
var Update = flag.Bool("update", false, "rewrite the golden files")

// Answer is what a call came to.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte

	request *Recorded // nil where it was not made by a World
}

// Naming returns the answer with what differs from run to run replaced by a name:
// random keys, secrets.
func (a Answer) Naming(random map[string]string) Answer {
	name := func(text string) string {
		for value, name := range random {
			text = strings.ReplaceAll(text, value, name)
		}
		return text
	}
	a.Body = []byte(name(string(a.Body)))
	a.request = a.request.naming(name)
	return a
}

// Golden compares the indented body with testdata/<name>.golden.json, or writes
// that file under -update. It does so with the request of a success, which is kept in
// testdata/requests.json: the two are an example of the endpoint in the public
// document.
func (a Answer) Golden(t testing.TB, name string) {
	t.Helper()
	var indented bytes.Buffer
	body := a.Body
	if strings.HasSuffix(a.Header["Content-Type"], "+xml; charset=utf-8") { // as a text
		body = must.Get(api.Encode(string(a.Body)))(t)
	}
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		t.Fatalf("%s is not JSON: %v: %.200s", name, err, a.Body)
	}
	indented.WriteByte('\n')
	if a.request != nil && a.Status == http.StatusOK {
		defer a.request.golden(t, name)
	}
	path := filepath.Join("testdata", name+".golden.json")
	if *Update {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(path, indented.Bytes(), 0o644))
		return
	}
	want := must.Get(os.ReadFile(path))(t)
	if !bytes.Equal(want, indented.Bytes()) {
		t.Errorf("%s differs from its golden file (run with -update to accept):\ngot  %s\nwant %s", name, indented.Bytes(), want)
	}
}

// errorBody is the body of a failure, as clients read it.
func errorBody(status int, message, requestID string) catalog.ErrorBody {
	return catalog.ErrorBody{
		Code: strconv.Itoa(status), ErrorCode: status, Status: status,
		Error: message, Msg: message, Message: message, RequestID: requestID,
	}
}

// Refused requires a status and the error body, whose one sentence holds all parts.
func (a Answer) Refused(t testing.TB, status int, parts ...string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("status %d, want %d: %s", a.Status, status, a.Body)
		return
	}
	var body catalog.ErrorBody
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || body.Error == "" || body != errorBody(status, body.Error, body.RequestID) {
		t.Errorf("not an error body: %s", a.Body)
	}
	for _, part := range parts {
		if !strings.Contains(body.Error, part) {
			t.Errorf("the message %q does not hold %q", body.Error, part)
		}
	}
}

// Data decodes the data of an answer's envelope and requires status 200.
func Data[T any](t testing.TB, a Answer) T {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	var envelope struct {
		Data T `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return envelope.Data
}

// Message returns the error text of a failed answer.
func Message(t testing.TB, a Answer) string {
	t.Helper()
	var body struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return body.Error
}
