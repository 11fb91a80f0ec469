package main

import (
	"net/http"
	"testing"

	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/store/storetest"
)

func TestWhatHasNotArrivedIs503(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func() {
		t.Helper()
		for _, kind := range []string{`"allMids"`, `"meta"`, `"spotMeta"`, `"metaAndAssetCtxs"`, `"spotMetaAndAssetCtxs"`, `"perpDexs"`, `"l2Book","coin":"BTC"`} {
			w.ask(t, `{"type":`+kind+`}`).Refused(t, http.StatusServiceUnavailable, "not arrived yet")
		}
	}
	ask()
	storetest.Publish(t, w.views, mids.Published, mids.View{Time: 1})
	storetest.Publish(t, w.views, meta.Published, meta.View{Time: 1})
	ask()
}
