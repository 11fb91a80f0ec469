package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/api"
	"quotary/shared/api/apitest"
	"quotary/shared/gate/admission"
	"quotary/shared/testing/must"
)

// Whatever a client sends, the answer is a well-formed success or a 4xx with
// the common body: never a fault.
func FuzzHostileRequestsAreAnswered(f *testing.F) {
	w, m := info(f), market(f)
	invoke := func(t *testing.T, h http.Handler, event events.APIGatewayProxyRequest) {
		t.Helper()
		out := must.Get(api.Lambda(h, slog.New(slog.DiscardHandler))(t.Context(), event))(t)
		check(t, out.StatusCode, out.Body)
	}
	caller := admission.Caller{AccessKey: "k", Distributor: "d"}.Context()
	f.Add(`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":1,"endTime":"2"}}`, "limit", "5", "BTC")
	f.Add(`{"type":["meta"]}`, "startTime", "-1", "%2F")
	f.Add("\xff", "interval", "\x00", "")
	f.Fuzz(func(t *testing.T, body, name, value, coin string) {
		event := apitest.Event(t, http.MethodPost, "/upgrade/v2/hl/info", body)
		event.RequestContext.Authorizer = caller
		invoke(t, w.Family, event)

		event = apitest.Event(t, http.MethodGet, "/upgrade/v2/hl/klines-with-taker-vol/BTC/1m", nil)
		event.MultiValueQueryStringParameters = map[string][]string{name: {value}}
		event.PathParameters = map[string]string{"coin": coin, "interval": "1m"}
		event.RequestContext.Authorizer = caller
		invoke(t, m.Family, event)
	})
}

func check(t *testing.T, status int, body string) {
	t.Helper()
	if status != 200 && (status < 400 || status >= 500) {
		t.Fatalf("%d %s", status, body)
	}
	if !json.Valid([]byte(body)) || !utf8.ValidString(body) {
		t.Fatalf("not JSON: %q", body)
	}
}
