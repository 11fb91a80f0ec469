package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// recordedAnswer is a question to the venue and what it answered.
type recordedAnswer struct {
	Request struct {
		Type, User         string
		StartTime, EndTime *int64
	}
	Response json.RawMessage
}

// recordedAnswers are the answers of a kind: those of the project's own made-up account, and
// those of the folder of genuine recordings where QUOTARY_TESTDATA names one.
func recordedAnswers(t *testing.T, kind string) iter.Seq[recordedAnswer] {
	t.Helper()
	files := []string{filepath.Join("testdata", "account.jsonl")}
	if dir := os.Getenv("QUOTARY_TESTDATA"); dir != "" {
		files = append(files, filepath.Join(dir, "hyperliquid", "hl_python_sdk_info_cassettes.jsonl"))
	}
	return func(yield func(recordedAnswer) bool) {
		for _, name := range files {
			for line := range strings.Lines(string(must.Get(os.ReadFile(name))(t))) {
				var a recordedAnswer
				if json.Unmarshal([]byte(line), &a) == nil && a.Request.Type == kind && !yield(a) {
					return
				}
			}
		}
	}
}

// nodeLine is a line of a node's files with one event.
func nodeLine(ms int64, hash, inner string) string {
	at := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000000000")
	return fmt.Sprintf(`{"local_time":%q,"block_time":%q,"block_number":%d,"events":[{"time":%q,"hash":%q,"inner":%s}]}`, at, at, ms, at, hash, inner)
}

// putUpdates stores what a node writes of these updates.
func (w *world) putUpdates(t *testing.T, user string, updates []catalog.InfoUpdate) (events market.Events) {
	t.Helper()
	for _, u := range updates {
		inner := fmt.Sprintf(`{"LedgerUpdate":{"users":[%q],"delta":%s}}`, user, u.Delta)
		var delta catalog.FundingDelta
		if must.Do(t, json.Unmarshal(u.Delta, &delta)); delta.Type == "funding" {
			inner = fmt.Sprintf(`{"Funding":{"deltas":[{"user":%q,"coin":%q,"funding_amount":%q,"szi":%q,"funding_rate":%q}]}}`, user, delta.Coin, delta.USDC, delta.Szi, delta.FundingRate)
		}
		if skipped, err := hyperliquid.ReadMisc(&events, nodeLine(u.Time, u.Hash, inner), u.Time); skipped > 0 || err != nil {
			t.Fatalf("%s is skipped: %v", inner, err)
		}
	}
	storetest.PutLog(t, w.log, payments.Name, payments.AppendRows, events.Payments...)
	storetest.PutLog(t, w.log, ledgers.Name, ledgers.AppendRows, events.Ledgers...)
	return events
}

// Nodes do not write how many samples a payment is of, as the venue told in its first months,
// and no hash, as no transaction pays it.
func TestRecordedUpdatesOfAccountsAreServedAsTheyWereAnswered(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, kind := range []string{"userFunding", "userNonFundingLedgerUpdates"} {
		for recorded := range recordedAnswers(t, kind) {
			w := newWorld(t)
			var want []catalog.InfoUpdate
			must.Do(t, json.Unmarshal(recorded.Response, &want))
			w.putUpdates(t, recorded.Request.User, want)
			for i := range want {
				if kind == "userFunding" {
					var delta catalog.FundingDelta
					must.Do(t, json.Unmarshal(want[i].Delta, &delta))
					delta.NSamples, want[i].Hash = nil, noHash
					want[i].Delta = must.Get(json.Marshal(delta))(t)
				}
			}
			question := must.Get(json.Marshal(map[string]any{"type": kind, "user": recorded.Request.User, "startTime": recorded.Request.StartTime, "endTime": recorded.Request.EndTime}))(t)
			got := apitest.Data[[]catalog.InfoUpdate](t, w.ask(t, string(question)))
			if diff := gocmp.Diff(plainOf(t, want), plainOf(t, got)); diff != "" {
				t.Errorf("%s of %s (-recorded +served):\n%s", kind, recorded.Request.User, diff)
			}
			compared += len(got)
		}
	}
	t.Logf("%d updates", compared)
}

// plainOf is a value as encoding/json reads it, however it was written.
func plainOf(t *testing.T, v any) (plain any) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(v))(t), &plain))
	return plain
}

// An account that was anchored just now has the venue's own portfolio as its past: what is
// answered of it are points of the venue's, and what was earned between two of them is what
// the venue says.
func TestARecordedPortfolioIsServedAsThePastOfAnAccount(t *testing.T) {
	t.Parallel()
	compared := 0
	for recorded := range recordedAnswers(t, "portfolio") {
		w := newWorld(t)
		past := must.Get(wire.ParsePortfolio(recorded.Response))(t)
		w.Move(time.UnixMilli(past.Until + 1).Sub(w.Now()))
		user := recorded.Request.User
		must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{
			accounts.Row(&market.Account{Address: user, Anchored: past.Until}),
			accountstats.Row(user, &market.TraderStats{Sampled: market.Hour1.StartMs(past.Until), VenueUntil: past.Until}),
			accountstats.PastRow(user, &accountstats.Past{Venue: past}),
		}))
		want := portfolioOf(t, recorded.Response)
		answer := w.ask(t, fmt.Sprintf(`{"type":"portfolio","user":%q}`, user))
		got := portfolioOf(t, apitest.Data[json.RawMessage](t, answer))
		until := time.UnixMilli(past.Until).UTC().Format(time.RFC3339)
		if source := answer.Header[catalog.HeaderDataSource]; source != "venue until "+until || answer.Header[catalog.HeaderDataSince] == "" {
			t.Errorf("the answer is of %q since %q, want that of the venue until %s", source, answer.Header[catalog.HeaderDataSince], until)
		}
		for name, window := range got {
			if len(window) < 2 {
				t.Errorf("%s of %s has %d points", name, user, len(window))
			}
			for i := 1; i < len(window); i++ {
				for of, said := range want {
					first, known := said.at(window[i-1].Time)
					second, both := said.at(window[i].Time)
					if strings.HasPrefix(of, "perp") != strings.HasPrefix(name, "perp") || !known || !both {
						continue
					}
					compared++
					differs := earned(window[i-1], window[i]) - earned(first, second)
					if window[i-1].Value != first.Value || window[i].Value != second.Value || differs > 2 || differs < -2 { // millionths, to which the venue's figures are cut
						t.Errorf("%s of %s from %+v to %+v, want from %+v to %+v", name, user, window[i-1], window[i], first, second)
					}
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no two points of a portfolio were compared")
	}
	t.Logf("%d steps of portfolios", compared)
}

// The made-up account trades nothing: between two points of its portfolio it is worth more by
// what came in and by its funding, and earned its funding alone.
func TestTheMadeUpAccountAgreesWithItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var events market.Events
	var windows map[string]recordedWindow
	for _, kind := range []string{"userFunding", "userNonFundingLedgerUpdates", "portfolio"} {
		for recorded := range recordedAnswers(t, kind) {
			if kind == "portfolio" {
				windows = portfolioOf(t, recorded.Response)
			} else {
				var updates []catalog.InfoUpdate
				must.Do(t, json.Unmarshal(recorded.Response, &updates))
				more := w.putUpdates(t, recorded.Request.User, updates)
				events.Payments, events.Ledgers = append(events.Payments, more.Payments...), append(events.Ledgers, more.Ledgers...)
			}
			break // the first is the made-up one
		}
	}
	amount := func(text string) market.Micros { return market.MicrosOf(must.Get(market.ParseDecimal(text))(t)) }
	for name, window := range windows {
		for i := 1; i < len(window); i++ {
			within := func(ms int64) bool { return ms > window[i-1].Time && ms <= window[i].Time }
			var paid, came market.Micros
			for n := range events.Payments {
				if p := &events.Payments[n]; within(p.Time) {
					paid += amount(p.USDC)
				}
			}
			for n := range events.Ledgers {
				l := &events.Ledgers[n]
				switch {
				case !within(l.Time):
				case l.Funds == market.LedgerDeposit:
					came += amount(l.USDC)
				case l.Funds == market.LedgerWithdraw:
					came -= amount(l.USDC) + 1_000_000 // the fee of the venue
				case strings.HasPrefix(name, "perp"):
					var transfer struct{ USDC string }
					must.Do(t, json.Unmarshal(l.Delta, &transfer))
					came -= amount(transfer.USDC)
				}
			}
			if got := earned(window[i-1], window[i]); got != paid || window[i].Value-window[i-1].Value != paid+came {
				t.Errorf("%s from %d to %d: earned %d and is worth %d more, was paid %d, and %d came in", name, window[i-1].Time, window[i].Time, got, window[i].Value-window[i-1].Value, paid, came)
			}
		}
	}
	if len(events.Payments) < 10 || len(events.Ledgers) < 4 || len(windows) != 8 {
		t.Errorf("it has %d payments, %d ledger updates and %d windows", len(events.Payments), len(events.Ledgers), len(windows))
	}
}

// recordedWindow is a window of a portfolio; of each point what came in is what it is worth
// less its profit.
type recordedWindow []market.AccountValue

func (w recordedWindow) at(ms int64) (v market.AccountValue, ok bool) {
	i := slices.IndexFunc(w, func(v market.AccountValue) bool { return v.Time == ms })
	if i < 0 {
		return v, false
	}
	return w[i], true
}

// earned is the profit between two points.
func earned(from, to market.AccountValue) market.Micros {
	return to.Value - to.NetIn - from.Value + from.NetIn
}

func portfolioOf(t *testing.T, raw []byte) map[string]recordedWindow {
	t.Helper()
	var list [][2]json.RawMessage
	must.Do(t, json.Unmarshal(raw, &list))
	windows := map[string]recordedWindow{}
	for _, one := range list {
		var window struct{ AccountValueHistory, PnlHistory [][2]any }
		must.Do(t, json.Unmarshal(one[1], &window))
		micros := func(v any) market.Micros {
			return market.MicrosOf(must.Get(market.ParseDecimal(fmt.Sprint(v)))(t))
		}
		name := strings.Trim(string(one[0]), `"`)
		for i, v := range window.AccountValueHistory {
			value := micros(v[1])
			windows[name] = append(windows[name], market.AccountValue{Time: int64(v[0].(float64)), Value: value, NetIn: value - micros(window.PnlHistory[i][1])})
		}
	}
	return windows
}
