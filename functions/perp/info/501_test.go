package main

import (
	"net/http"
	"testing"

	"quotary/shared/catalog"
)

func TestSpecifiedTypesWithoutAnAnswerAre501(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range catalog.InfoTypes {
		if kind.Planned {
			w.ask(t, `{"type":"`+kind.Name+`"}`).Refused(t, http.StatusNotImplemented, "the type "+kind.Name+" is specified but not available yet")
		}
	}
}
