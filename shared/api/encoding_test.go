package api

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

func TestAcceptEncodingIsReadWithItsQualities(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "br": false, "deflate, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false,
		"*": true, "*;q=0": false, "gzip;q=0, *": false, "identity, *;q=0.1": true, "gzip;q=x": false, "gzip;q=2": false, "gzip ; Q=1": true, "notgzip": false,
	} {
		if got := acceptsGzip([]string{header}); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
	if acceptsGzip(nil) || !acceptsGzip([]string{"br", "gzip"}) {
		t.Error("no header, or two")
	}
}

// answered sends out as the answer of an endpoint through the adapter to Lambda.
func answered(t *testing.T, accept string, out any) events.APIGatewayProxyResponse {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := newRequest(r, time.Now())
		res := req.succeed(&endpoint{Endpoint: &catalog.Endpoint{Envelope: catalog.EnvelopeB}}, out)
		res.write(w, req)
	})
	event := events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Resource: "/x"}
	if accept != "" {
		event.MultiValueHeaders = map[string][]string{"accept-encoding": {accept}}
	}
	res := must.Get(Lambda(h, slog.New(slog.DiscardHandler))(t.Context(), event))(t)
	if text, err := json.Marshal(res); err != nil || len(text) > 6<<20 {
		t.Errorf("the function's answer has %d bytes (%v)", len(text), err)
	}
	return res
}

func TestALargeAnswerIsCompressedWhereTheClientAcceptsIt(t *testing.T) {
	t.Parallel()
	rows := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.Repeat("0123456789", 10)
		}
		return list
	}
	header := func(res events.APIGatewayProxyResponse, name string) string {
		return strings.Join(res.MultiValueHeaders[name], ",")
	}
	const fits, beyond = 20_000, 200_000 // 2 and 20 MB
	for _, tt := range []struct {
		name     string
		accept   string
		rows     int
		status   int
		encoding string
		varies   string
	}{
		{"small", "gzip", 10, 200, "", ""},
		{"large", "br, gzip", fits, 200, "gzip", "Accept-Encoding"},
		{"large, not accepted", "br", fits, 200, "", "Accept-Encoding"},
		{"large, not named", "", fits, 200, "", "Accept-Encoding"},
		{"fits only when it is compressed", "gzip", beyond, 200, "gzip", "Accept-Encoding"},
		{"does not fit", "gzip;q=0", beyond, 400, "", ""},
	} {
		res := answered(t, tt.accept, rows(tt.rows))
		if res.StatusCode != tt.status || header(res, "Content-Encoding") != tt.encoding || header(res, "Vary") != tt.varies || res.IsBase64Encoded != (tt.encoding != "") {
			t.Errorf("%s: %d %q %q, base64 %v", tt.name, res.StatusCode, header(res, "Content-Encoding"), header(res, "Vary"), res.IsBase64Encoded)
			continue
		}
		body := []byte(res.Body)
		if res.IsBase64Encoded {
			packed, err := base64.StdEncoding.DecodeString(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			r, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		var envelope struct {
			Error string   `json:"error"`
			Data  []string `json:"data"`
		}
		if err := json.Unmarshal(body, &envelope); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if tt.status == 200 && len(envelope.Data) != tt.rows || tt.status != 200 && !strings.Contains(envelope.Error, "or accept gzip") {
			t.Errorf("%s: %d rows, error %q", tt.name, len(envelope.Data), envelope.Error)
		}
	}
}

// Quotes are escaped once more on their way out of the function, and count.
func TestAnAnswerFullOfQuotesIsHeldToWhatFits(t *testing.T) {
	t.Parallel()
	if res := answered(t, "", make([]string, 1_500_000)); res.StatusCode != http.StatusBadRequest { // 4.5 MB, 7.5 MB escaped
		t.Errorf("status %d", res.StatusCode)
	}
}
