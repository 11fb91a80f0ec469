package main

import (
	"fmt"
	"net/http"
	"testing"

	"quotary/shared/market"
)

func TestAnUnreadableRowIsAnInternalError(t *testing.T) {
	t.Parallel()
	good, bad := one(0), one(1)
	bad.Oid, bad.Time = good.Oid, good.Time
	for field, change := range map[string]func(*market.Fill){
		"px": func(f *market.Fill) { f.Px = "x" }, "sz": func(f *market.Fill) { f.Sz = "" },
		"fee": func(f *market.Fill) { f.Fee = "1e3" }, "closedPnl": func(f *market.Fill) { f.ClosedPnl = "+1" },
		"sum": func(f *market.Fill) { f.Sz = "-0.5" },
	} {
		w := newWorld(t)
		f := bad
		change(&f)
		w.put(t, good, f)
		t.Run(field, func(t *testing.T) {
			w.ask(t, fmt.Sprintf(`{"type":"userFills","user":%q,"aggregateByTime":true}`, alice)).Refused(t, http.StatusInternalServerError, "internal error")
		})
	}
}
