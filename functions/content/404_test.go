package main

import (
	"net/http"
	"testing"

	"quotary/shared/data/news"
)

func TestAnUnknownNewsItemIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, article(1, news.English, "one"))
	w.Get(t, w.SubKey, detailPath+"?id=7").Refused(t, http.StatusNotFound, "no news item has the id 7")
	w.Get(t, w.SubKey, detailPath).Refused(t, http.StatusBadRequest, "missing id")
	for _, id := range []string{"0", "-1", "x", "1.5", "9007199254740992"} {
		w.Get(t, w.SubKey, detailPath+"?id="+id).Refused(t, http.StatusBadRequest, "invalid id")
	}
}
