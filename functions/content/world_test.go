package main

import (
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/store"
)

// openContent is the function over an empty store.
func openContent(t *testing.T) (w *apitest.World, log *store.Log, views *store.Views) {
	t.Helper()
	w = apitest.Open(t, catalog.Content, func(open *apitest.World) {
		log, views = open.Log(), open.Views(t)
		register(open.Family, log, views, open.Now)
	})
	return w, log, views
}
