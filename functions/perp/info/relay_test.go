package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// standIn is a venue that answers with the question that it was asked, or as it is told.
type standIn struct {
	*httptest.Server
	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func newVenue(t *testing.T) *standIn {
	t.Helper()
	v := new(standIn)
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.asked.Add(1)
		if answer := v.answer.Load(); answer != nil {
			(*answer)(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/info" {
			t.Errorf("%s is asked for %s: %v", r.URL, body, err)
		}
		fmt.Fprintf(w, `{"asked":%s}`, body)
	}))
	t.Cleanup(v.Close)
	return v
}

func (v *standIn) answers(h http.HandlerFunc) { v.answer.Store(&h) }

const asTheVenue = "/upgrade/v2/hl/venue/info"

func (w *world) askVenue(t *testing.T, body string) apitest.Answer {
	t.Helper()
	return w.Call(t, w.SubKey, http.MethodPost, asTheVenue, body)
}

func TestTheVenueIsAskedForWhatItAloneKnows(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	w := newWorldWith(t, v.URL, 1_000_000)
	for question, want := range map[string]string{
		`{"type":"exchangeStatus","user":"` + alice + `","x":[1]}`:                                                    `{"type":"exchangeStatus"}`,
		`{"type":"userRole","user":"` + strings.ToUpper(alice[2:]) + `"}`:                                             "",
		`{"type":"userRole","user":"0x` + strings.ToUpper(alice[2:]) + `"}`:                                           `{"type":"userRole","user":"` + alice + `"}`,
		`{"type":"vaultDetails","vaultAddress":"` + alice + `"}`:                                                      `{"type":"vaultDetails","vaultAddress":"` + alice + `"}`,
		`{"type":"vaultDetails","vaultAddress":"` + alice + `","user":"` + alice + `"}`:                               `{"type":"vaultDetails","user":"` + alice + `","vaultAddress":"` + alice + `"}`,
		`{"type":"marginTable","id":"50"}`:                                                                            `{"id":50,"type":"marginTable"}`,
		`{"type":"userTwapSliceFillsByTime","user":"` + alice + `","startTime":1700000000000,"aggregateByTime":true}`: `{"aggregateByTime":true,"startTime":1700000000000,"type":"userTwapSliceFillsByTime","user":"` + alice + `"}`,
	} {
		answer := w.ask(t, question)
		if want == "" {
			answer.Refused(t, http.StatusBadRequest, "user")
			continue
		}
		check.Equalf(t, `{"code":"0","msg":"success","data":{"asked":`+want+`}}`, string(answer.Body), "%s", question)
		if plain := w.askVenue(t, question); string(plain.Body) != `{"asked":`+want+`}` {
			t.Errorf("as the venue, %s is answered %d %s", question, plain.Status, plain.Body)
		}
	}
}

func TestAnswersAreThoseOfTheVenueToTheLetter(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, newVenue(t).URL, 1_000_000)
	w.someMids(t)
	w.putOrders(t, order(0, 5, "filled"))
	placed := fmt.Sprintf(`{"type":"orderStatus","user":%q,"oid":9000}`, alice)
	w.askVenue(t, placed).Golden(t, "venue-orderStatus")
	w.ask(t, `{"type":"exchangeStatus"}`).Golden(t, "relayed")
	flat := apitest.Data[json.RawMessage](t, w.ask(t, placed))
	for body, want := range map[string]string{
		`{"type":"allMids"}`: string(apitest.Data[json.RawMessage](t, w.ask(t, `{"type":"allMids"}`))),
		placed:               `{"status":"order","order":` + string(flat) + `}`,
		fmt.Sprintf(`{"type":"orderStatus","user":%q,"oid":1}`, alice): `{"status":"unknownOid"}`,
		`{"type":"perpDexs"}`:                     `{"asked":{"type":"perpDexs"}}`,
		`{"type":"isVip","user":"` + alice + `"}`: `{"asked":{"type":"isVip","user":"` + alice + `"}}`,
	} {
		answer := w.askVenue(t, body)
		if answer.Status != http.StatusOK || string(answer.Body) != want {
			t.Errorf("%s is answered %d %s, want %s", body, answer.Status, answer.Body, want)
		}
	}
}

func TestWhatTheVenueWouldNotTakeHasItsWords(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	w := newWorldWith(t, v.URL, 1_000_000)
	const words = "Failed to deserialize the JSON body into the target type"
	for _, body := range []string{`{}`, `{"type":7}`, `{"type":"nope"}`, `{"type":"userRole"}`, `{"type":"userRole","user":"0x1"}`, `{"type":"userFillsByTime","user":"` + alice + `"}`, `{"type":"tokenDetails","tokenId":"0x12"}`} {
		answer := w.askVenue(t, body)
		if answer.Status != http.StatusUnprocessableEntity || string(answer.Body) != words || answer.Header["Content-Type"] != "text/plain; charset=utf-8" {
			t.Errorf("%s is answered %d %s as %s", body, answer.Status, answer.Body, answer.Header["Content-Type"])
		}
		if other := w.ask(t, body); other.Status != http.StatusBadRequest {
			t.Errorf("%s is answered %d %s elsewhere", body, other.Status, other.Body)
		}
	}
	w.askVenue(t, `[1]`).Refused(t, http.StatusBadRequest, "object")
	if n := v.asked.Load(); n != 0 {
		t.Errorf("the venue was asked %d times", n)
	}
	v.answers(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, words, http.StatusUnprocessableEntity) })
	if answer := w.askVenue(t, `{"type":"perpDexLimits","dex":"none"}`); answer.Status != http.StatusUnprocessableEntity || string(answer.Body) != words {
		t.Errorf("what the venue refuses is answered %d %s", answer.Status, answer.Body)
	}
	w.ask(t, `{"type":"perpDexLimits","dex":"none"}`).Refused(t, http.StatusBadRequest, "type perpDexLimits")
}

// A venue that fails at one question is asked the next one; one that is not there is left alone.
func TestAFailingVenueIs503AndCostsNoOtherQuestion(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		answer http.HandlerFunc
		away   bool
	}{
		"an internal error": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "null", http.StatusInternalServerError) }, false},
		"garbage":           {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, false},
		"half an answer":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"a":`) }, false},
		"50 MB": {func(w http.ResponseWriter, _ *http.Request) {
			for range 50 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<20)); err != nil {
					return
				}
			}
		}, false},
		"a million rows": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "["+strings.Repeat("1,", 1_000_000)+"1]")
		}, false},
		"too many requests": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusTooManyRequests) }, true},
		"a bad gateway":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusBadGateway) }, false},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVenue(t)
			w := newWorldWith(t, v.URL, 1_000_000)
			v.answers(one.answer)
			refused := func(body string) {
				t.Helper()
				for _, answer := range []apitest.Answer{w.ask(t, body), w.askVenue(t, body)} {
					answer.Refused(t, http.StatusServiceUnavailable, "the exchange does not answer")
					if answer.Header["Retry-After"] != "5" {
						t.Errorf("Retry-After is %q", answer.Header["Retry-After"])
					}
				}
			}
			refused(`{"type":"exchangeStatus"}`)
			if n := v.asked.Load(); n != 1 {
				t.Errorf("the venue was asked %d times", n)
			}
			v.answer.Store(nil)
			if one.away {
				refused(`{"type":"liquidatable"}`)
			} else if answer := w.ask(t, `{"type":"liquidatable"}`); answer.Status != http.StatusOK {
				t.Errorf("another question is answered %d %s", answer.Status, answer.Body)
			}
			w.Move(6 * time.Second)
			if answer := w.ask(t, `{"type":"exchangeStatus"}`); answer.Status != http.StatusOK {
				t.Errorf("later it is answered %d %s", answer.Status, answer.Body)
			}
		})
	}
}

func TestWhatIsSpentIs503WithWhenToAskAgain(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	w := newWorldWith(t, v.URL, 7*20*4) // four questions in ten seconds, one of which is kept for others
	w.someAccount(t)
	ask := func(n int) apitest.Answer { return w.ask(t, fmt.Sprintf(`{"type":"marginTable","id":%d}`, n)) }
	for n := range 3 {
		if answer := ask(n); answer.Status != http.StatusOK {
			t.Fatalf("question %d is answered %d %s", n, answer.Status, answer.Body)
		}
	}
	answer := ask(3)
	answer.Refused(t, http.StatusServiceUnavailable, "spent for now")
	if answer.Header["Retry-After"] != "10" || v.asked.Load() != 3 {
		t.Errorf("Retry-After %s, asked %d times", answer.Header["Retry-After"], v.asked.Load())
	}
	if again := ask(0); again.Status != http.StatusOK { // it is kept
		t.Errorf("the first question again is answered %d %s", again.Status, again.Body)
	}
	if fees := w.ask(t, `{"type":"userFees","user":"`+alice+`"}`); fees.Status != http.StatusOK { // what is known without
		t.Errorf("userFees is answered %d %s", fees.Status, fees.Body)
	}
	w.Move(10 * time.Second)
	if answer := ask(3); answer.Status != http.StatusOK {
		t.Errorf("ten seconds later it is answered %d %s", answer.Status, answer.Body)
	}
}

// In a dex that an account does not use the venue lists nothing by itself.
func TestOrdersInADexThatIsNotUsedAreTheVenues(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	w := newWorldWith(t, v.URL, 1_000_000)
	w.someAccount(t)
	question := `{"type":"openOrders","user":"` + alice + `","dex":"xyz"}`
	check.Equalf(t, `{"code":"0","msg":"success","data":{"asked":{"dex":"xyz","type":"openOrders","user":"`+alice+`"}}}`, string(w.ask(t, question).Body), "the answer")
	w.ask(t, `{"type":"openOrders","user":"`+alice+`"}`).Refused(t, http.StatusServiceUnavailable, "open orders")
	alone := newWorld(t)
	alone.someAccount(t)
	alone.ask(t, question).Refused(t, http.StatusServiceUnavailable, "open orders")
}

func TestWhatIsNullIsFilledInWhereTheVenueSaysTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, said, want string }{
		{`[["day",{"vlm":null,"pnlHistory":[]}],["week",{"vlm":"1.0"}]]`, `[["week",{"vlm":"9.0"}],["day",{"vlm":"7.0","pnlHistory":[1]}]]`, `[["day",{"pnlHistory":[],"vlm":"7.0"}],["week",{"vlm":"1.0"}]]`},
		{`{"days":[{"date":"1","x":null},{"date":"2","x":null}],"more":null}`, `{"days":[{"date":"2","x":5}],"more":[null]}`, `{"days":[{"date":"1","x":null},{"date":"2","x":5}],"more":[null]}`},
		{`{"a":null,"b":{"c":null}}`, `{"b":[1]}`, `{"a":null,"b":{"c":null}}`},
		{`null`, `{"a":1}`, `{"a":1}`},
		{`{"a":null}`, `x`, `{"a":null}`},
		{`[null,2]`, `[1]`, `[1,2]`},
	} {
		check.Equalf(t, c.want, string(fill(json.RawMessage(c.answer), json.RawMessage(c.said))), "%s", c.answer)
	}
}

func TestADeploymentThatAsksNobodySaysSo(t *testing.T) {
	t.Parallel()
	newWorld(t).ask(t, `{"type":"exchangeStatus"}`).Refused(t, http.StatusServiceUnavailable, "turned that off")
}

// What is known here stays as it is, and what is null is as the venue says.
func TestFiguresThatTheVenueAloneKnowsAreFilledIn(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	w := newWorldWith(t, v.URL, 1_000_000)
	w.someAccount(t)
	day := apitest.Start.Format(time.DateOnly)
	v.answers(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `{"dailyUserVlm":[{"date":"2020-01-01","exchange":"1.0"},{"date":%q,"userCross":"3.0","userAdd":"4.0","exchange":"5.0"}],"feeSchedule":{"cross":"0.00045"},"userCrossRate":"0.0004","more":1}`, day)
	})
	fees := apitest.Data[catalog.InfoUserFees](t, w.ask(t, `{"type":"userFees","user":"`+alice+`"}`))
	today := fees.DailyUserVlm[len(fees.DailyUserVlm)-1]
	if len(fees.DailyUserVlm) != feeDays || today.Exchange == nil || *today.Exchange != "5.0" || *today.UserCross != "3.0" || fees.DailyUserVlm[0].Exchange != nil {
		t.Errorf("%+v", fees.DailyUserVlm)
	}
	if string(*fees.FeeSchedule) != `{"cross":"0.00045"}` || *fees.UserCrossRate != "0.0004" || fees.UserAddRate != nil {
		t.Errorf("%+v", fees)
	}
	v.answers(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, `{"user":"0x1","coin":"ETH","leverage":{"type":"isolated","value":3},"maxTradeSzs":["1.0","2.0"],"availableToTrade":["3.0","4.0"],"markPx":"9"}`)
	})
	asset := apitest.Data[catalog.ActiveAsset](t, w.ask(t, `{"type":"activeAssetData","coin":"BTC","user":"`+alice+`"}`))
	if asset.User != alice || asset.Coin != "BTC" || asset.Leverage.Value != 20 || *asset.MaxTradeSzs != [2]string{"1.0", "2.0"} || *asset.AvailableToTrade != [2]string{"3.0", "4.0"} || *asset.MarkPx != "84026.5" {
		t.Errorf("%+v", asset)
	}
}

// Fills that are known by their public trades alone are told by the venue where it may be asked; else what is not
// known is null, and the venue's own form, which has no nulls there, is refused.
func TestTheVenueIsAskedForFillsThatAreProvisional(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	w := newWorldWith(t, v.URL, 1_000_000)
	trade := market.Trade{Coin: "BTC", Side: market.Buy, Px: must.Get(market.ParseDecimal("30135.5"))(t), Sz: must.Get(market.ParseDecimal("0.25"))(t), Time: start + 1000, Tid: 101, Hash: "0xab", Users: [2]string{alice, ""}}
	w.put(t, one(0))
	ask := map[string]string{"userFills": fmt.Sprintf(`{"type":"userFills","user":%q,"aggregateByTime":true}`, alice), "userFillsByTime": fmt.Sprintf(`{"type":"userFillsByTime","user":%q,"startTime":%d}`, alice, start)}
	for kind, question := range ask {
		if w.ask(t, question); v.asked.Load() != 0 {
			t.Errorf("%s: the venue is asked for what is known", kind)
		}
	}
	w.put(t, market.AppendProvisional(nil, []market.Trade{trade})...)
	told := fmt.Sprintf(`[{"coin":"BTC","oid":9001,"time":%d}]`, start)
	v.answers(func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, told) })
	for _, question := range ask {
		check.Equal(t, string(w.ask(t, question).Body), `{"code":"0","msg":"success","data":`+told+`}`)
		check.Equal(t, string(w.askVenue(t, question).Body), told)
	}
	told = fmt.Sprintf(`[{"coin":"BTC","oid":9001,"time":%d}]`, start+1) // it keeps no more
	later := newWorldWith(t, v.URL, 1_000_000)
	later.put(t, one(0))
	later.put(t, market.AppendProvisional(nil, []market.Trade{trade})...)
	for kind, question := range ask {
		if body := string(later.ask(t, question).Body); !strings.Contains(body, `"oid":9000`) {
			t.Errorf("%s has what the venue keeps, and not what is stored: %s", kind, body)
		}
	}
	alone := newWorldWith(t, "", 0)
	alone.put(t, one(0))
	alone.put(t, market.AppendProvisional(nil, []market.Trade{trade})...)
	for kind, question := range ask {
		if body := string(alone.ask(t, question).Body); !strings.Contains(body, `"startPosition":null,"dir":null,"closedPnl":null`) || strings.Contains(body, "provisional") || !strings.Contains(body, `"oid":9000`) {
			t.Errorf("%s without the venue: %s", kind, body)
		}
		alone.askVenue(t, question).Refused(t, http.StatusServiceUnavailable, "until the venue has published their hour")
	}
}
