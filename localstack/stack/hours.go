package stack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// hoursBucket is the bucket of the hours that the simulated venue publishes. It is none of the stack's own: whoever
// reads it pays.
const hoursBucket = "venue-hours"

// nodeless reports whether the ingester follows no node's files.
func (s *Stack) nodeless() bool { return s.cfg.Node == "none" }

// hours is where the simulated venue publishes its hours, nil where a node is followed.
func (s *Stack) hours() (publish func(key string, body []byte) error, err error) {
	switch s.cfg.Node {
	case "", "simulated":
		return nil, nil
	case "none":
	default:
		return nil, fmt.Errorf("QUOTARY_NODE must be simulated or none, not %q", s.cfg.Node)
	}
	ctx := context.Background()                                               // hours are published as long as the venue lives
	if err := s.put(ctx, hoursBucket, nil, http.StatusConflict); err != nil { // where the bucket is there
		return nil, err
	}
	return func(key string, body []byte) error { return s.put(ctx, hoursBucket+"/"+key, body) }, nil
}

// paidByReaders refuses, as S3 does, to have the bucket of hours read by who is nobody, or does not agree to pay.
func paidByReaders(objects http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if bucket == hoursBucket && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			signed := strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
			if !signed || r.Header.Get("X-Amz-Request-Payer") != "requester" {
				w.Header().Set("Content-Type", "application/xml")
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`))
				return
			}
		}
		objects.ServeHTTP(w, r)
	})
}
