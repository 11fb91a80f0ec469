package stack

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"quotary/shared/testing/must"
)

func TestTheBucketOfHoursIsReadByWhoIsKnownAndPays(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(paidByReaders(gofakes3.New(s3mem.New()).Server()))
	defer server.Close()
	s := &Stack{cfg: Config{Node: "none"}, State: State{S3: server.URL}}
	publish := must.Get(s.hours())(t)
	must.Do(t, publish("node_fills_by_block/hourly/20260315/7.lz4", []byte("an hour")))
	must.Get(s.hours())(t) // the bucket is there by the next start
	signed := http.Header{"Authorization": {"AWS4-HMAC-SHA256 Credential=a"}}
	both := http.Header{"Authorization": signed["Authorization"], "X-Amz-Request-Payer": {"requester"}}
	for _, c := range []struct {
		what, path string
		header     http.Header
		want       int
	}{
		{"unsigned", "/node_fills_by_block/hourly/20260315/7.lz4", http.Header{"X-Amz-Request-Payer": {"requester"}}, 403},
		{"not paid for", "/node_fills_by_block/hourly/20260315/7.lz4", signed, 403},
		{"listed by nobody", "?list-type=2", nil, 403},
		{"listed", "?list-type=2&prefix=node_fills_by_block/", both, 200},
		{"read", "/node_fills_by_block/hourly/20260315/7.lz4", both, 200},
	} {
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/"+hoursBucket+c.path, nil))(t)
		req.Header = c.header
		res := must.Get(server.Client().Do(req))(t)
		body := must.Get(io.ReadAll(res.Body))(t)
		res.Body.Close()
		if res.StatusCode != c.want || c.what == "read" && string(body) != "an hour" || c.what == "listed" && !strings.Contains(string(body), "20260315/7.lz4") {
			t.Errorf("%s: %d %.200s", c.what, res.StatusCode, body)
		}
	}
	if _, err := (&Stack{cfg: Config{Node: "real"}}).hours(); err == nil {
		t.Error("there is a real node")
	}
}
