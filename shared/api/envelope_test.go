package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

func TestEachEnvelopeHasItsMembersAndNoOther(t *testing.T) {
	t.Parallel()
	paged := catalog.Paged[string]{Data: []string{"x"}, Paging: catalog.Paging{Page: 2, PageSize: 100, Total: 101}}
	for _, tt := range []struct {
		name     string
		envelope catalog.Envelope
		out      any
		want     string
	}{
		{"A", catalog.EnvelopeA, []int{1}, `{"success":true,"errorCode":200,"error":"","data":[1]}`},
		{"B", catalog.EnvelopeB, []int{1}, `{"code":"0","msg":"success","data":[1]}`},
		{"C", catalog.EnvelopeC, []int{1}, `{"success":true,"status":200,"message":"success","data":[1]}`},
		{"D", catalog.EnvelopeD, []int{1}, `{"success":true,"data":[1],"message":"success"}`},
		{"D without data", catalog.EnvelopeD, catalog.None{}, `{"success":true,"message":"success"}`},
		{"A with a page", catalog.EnvelopeA, paged, `{"success":true,"errorCode":200,"error":"","data":["x"],"page":2,"page_size":100,"total":101}`},
		{"B with a page", catalog.EnvelopeB, paged, `{"code":"0","msg":"success","data":["x"],"page":2,"page_size":100,"total":101}`},
		{"C with a page", catalog.EnvelopeC, paged, `{"success":true,"status":200,"message":"success","data":["x"],"page":2,"page_size":100,"total":101}`},
		{"D with a page", catalog.EnvelopeD, paged, `{"success":true,"data":["x"],"page":2,"page_size":100,"total":101,"message":"success"}`},
		{"an empty page", catalog.EnvelopeA, catalog.Paged[string]{}, `{"success":true,"errorCode":200,"error":"","data":[],"page":0,"page_size":0,"total":0}`},
		{"null", catalog.EnvelopeA, (*int)(nil), `{"success":true,"errorCode":200,"error":"","data":null}`},
	} {
		req := newRequest(httptest.NewRequest(http.MethodGet, "/", nil), time.Now())
		res := req.succeed(&endpoint{Endpoint: &catalog.Endpoint{Envelope: tt.envelope}}, tt.out)
		if res.status != http.StatusOK || string(res.body) != tt.want {
			t.Errorf("%s: %d %s, want %s", tt.name, res.status, res.body, tt.want)
		}
	}
}

// The reader of each envelope finds in a failure what it looks for, with no sign of
// success, and never data.
func TestAFailureIsOneInEveryEnvelope(t *testing.T) {
	t.Parallel()
	req := newRequest(httptest.NewRequest(http.MethodGet, "/", nil), time.Now())
	for _, reason := range catalog.Reasons() {
		status := reason.Status()
		res := req.fail(Refuse(reason, "no \"such\" <thing>"))
		var body map[string]any
		must.Do(t, json.Unmarshal(res.body, &body))
		for name, holds := range map[string]bool{
			"A: success is false":       body["success"] == false,
			"A: errorCode":              body["errorCode"] == float64(status),
			"A: error":                  body["error"] == "no \"such\" <thing>",
			"B: code is a text, no '0'": body["code"] == strconv.Itoa(status),
			"B: msg":                    body["msg"] == body["error"],
			"C: status":                 body["status"] == float64(status),
			"C: message":                body["message"] == body["error"],
			"its request is named":      body["request_id"] == req.id,
		} {
			if !holds {
				t.Errorf("%s: %s: %s", reason, name, res.body)
			}
		}
		if got := slices.Sorted(maps.Keys(body)); len(got) != 8 || slices.Contains(got, "data") {
			t.Errorf("%s: members %v", reason, got)
		}
	}
}
