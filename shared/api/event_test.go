package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// recorded are the events that the gateway sends, as the programs' own tests
// have them.
func recorded(t testing.TB) [][]byte {
	names, err := filepath.Glob("../../events/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no events: %v", err)
	}
	var all [][]byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

// used is the part of an event that this package asks for.
func used(event *events.APIGatewayProxyRequest) map[string]any {
	texts := map[string]any{}
	for name, value := range event.RequestContext.Authorizer {
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return map[string]any{
		"resource": event.Resource, "method": event.HTTPMethod, "path": event.PathParameters,
		"query": event.QueryStringParameters, "queries": event.MultiValueQueryStringParameters,
		"body": event.Body, "base64": event.IsBase64Encoded, "id": event.RequestContext.RequestID, "authorizer": texts,
	}
}

// FuzzReadEvent holds the reader against encoding/json: where that reads an
// event, the same is read, and where it does not, nothing is.
func FuzzReadEvent(f *testing.F) {
	for _, payload := range recorded(f) {
		f.Add(payload)
	}
	f.Add([]byte(`{"resource":"/a","body":null,"requestContext":{"authorizer":{"key":"k","n":1}},"queryStringParameters":null}`))
	f.Add([]byte(`{"resource":"/a\u0062","body":"\ud83d\ude00","isBase64Encoded":true,"multiValueQueryStringParameters":{"a":["b","c"]}}`))
	f.Add([]byte(`{"pathParameters":{"a":1}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var want events.APIGatewayProxyRequest
		wantErr := json.Unmarshal(payload, &want)
		got, err := readEvent(payload)
		switch {
		case wantErr != nil && err != nil:
			return
		case wantErr != nil:
			// encoding/json also reads what nobody asks for, and may refuse that.
			if !json.Valid(payload) {
				t.Fatalf("read %+v where encoding/json says %v", got, wantErr)
			}
			return
		case err != nil:
			t.Fatalf("%v where encoding/json reads it", err)
		}
		if caseFolded(payload) {
			t.Skip("encoding/json takes names in any case, and the last of equal ones")
		}
		if diff := cmp.Diff(used(&want), used(&got), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// caseFolded reports whether the object has members that differ in case only
// from those that are read, or come twice.
func caseFolded(payload []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(payload, &members) != nil {
		return true
	}
	again, err := json.Marshal(members)
	if err != nil {
		return true
	}
	var event events.APIGatewayProxyRequest
	if json.Unmarshal(again, &event) != nil {
		return true
	}
	exact, err := readEvent(again)
	return err != nil || !cmp.Equal(used(&event), used(&exact), cmpopts.EquateEmpty())
}

func TestWhatIsNoEventIsAnError(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{``, `[]`, `{"resource":1}`, `{"resource":"/a"`, "{\"resource\":\"\x01\"}"} {
		if _, err := readEvent([]byte(payload)); err == nil {
			t.Errorf("%s is read as an event", payload)
		}
	}
}

func TestAnAnswerIsTheGatewaysJSON(t *testing.T) {
	t.Parallel()
	want := events.APIGatewayProxyResponse{
		StatusCode: 429, Headers: map[string]string{"Retry-After": "5", "Content-Type": "application/json"}, Body: "{\"a\":\"b\\n\u00e9\"}\n",
	}
	var got events.APIGatewayProxyResponse
	if err := json.Unmarshal(appendAnswer(nil, want), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkReadEvent(b *testing.B) {
	payload, err := os.ReadFile("../../events/perp-market.json")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("scanned", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := readEvent(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var event events.APIGatewayProxyRequest
			if err := json.Unmarshal(payload, &event); err != nil {
				b.Fatal(err)
			}
		}
	})
}
