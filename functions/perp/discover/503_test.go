package main

import (
	"net/http"
	"testing"
)

func TestBeforeTheFirstTableEveryQuestionIs503(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, in := range map[string]body{discover: {}, history: {}, smart: {}, tags: {"addresses": []string{address(1)}}} {
		answer := w.post(t, path, in)
		answer.Refused(t, http.StatusServiceUnavailable, "the table of traders is not made yet", "30 seconds")
		if answer.Header["Retry-After"] != "30" {
			t.Errorf("%s: Retry-After %q", path, answer.Header["Retry-After"])
		}
	}
	w.post(t, discover, body{"sort": body{"field": "nonsense"}}).Refused(t, http.StatusBadRequest, "nonsense")
}
