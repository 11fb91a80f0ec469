package main

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

func TestBadRequestsOfFlashes(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, nil)
	for path, want := range map[string]string{
		"/v2/content/newsflash?language=fr":                                          "language",
		"/v2/content/flashList?createtime=x":                                         "createtime",
		"/v2/content/exchange-listing-flash?memberIds=1,2,3,4,5,6":                   "memberIds",
		"/v2/content/exchange-listing-flash?memberIds=x":                             "memberIds",
		"/v2/content/exchange-listing-flash?pageSize=0":                              "pageSize",
		flashPath + "list?pagesize=51":                                               "pagesize",
		flashPath + "list?tab=16":                                                    "tab",
		flashPath + "list?only_important=2":                                          "only_important",
		flashPath + "list?platform_show=x":                                           "platform_show",
		flashPath + "list?lan=tc":                                                    "lan",
		flashPath + "list?last_id=x":                                                 "last_id",
		flashPath + "list?date_mode=x":                                               "date_mode",
		flashPath + "list?date_mode=jump":                                            "jump_to_date",
		flashPath + "list?date_mode=jump&jump_to_date=yesterday":                     "jump_to_date",
		flashPath + "list?date_mode=range":                                           "start_date",
		flashPath + "list?date_mode=range&start_date=2026-01-02&end_date=2026-01-01": "before",
		flashPath + "search":                                                         "word",
		flashPath + "search?word=a&size=51":                                          "size",
		flashPath + "detail":                                                         "flash_id",
		flashPath + "detail?flash_id=x":                                              "flash_id",
		socialPath + "latest?page_size=101":                                          "page_size",
		socialPath + "latest?last_time=soon":                                         "last_time",
		socialPath + "latest?language=tc":                                            "language",
		socialPath + "search":                                                        "keyword",
		socialPath + "members":                                                       "word",
	} {
		w.Get(t, w.SubKey, path).Refused(t, http.StatusBadRequest, want)
	}
	w.Get(t, w.SubKey, flashPath+"detail?flash_id=7").Refused(t, http.StatusNotFound, "no flash has the flash_id 7")
	many := map[int]bool{}
	for n := range 51 {
		many[n] = true
	}
	for _, body := range []any{map[string]any{}, map[string]any{"flash_ids": []int{}}, map[string]any{"flash_ids": slices.Collect(maps.Keys(many))}} {
		w.Call(t, w.SubKey, http.MethodPost, socialPath+"interaction-stats", body).Refused(t, http.StatusBadRequest, "flash_ids")
	}
}
