package venuerelay_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quotary/shared/data/relaybudget"
	"quotary/shared/service/venuerelay"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/testclock"
)

// venue is one that fails with a status at each question that is bad.
type venue struct {
	*httptest.Server
	relay *venuerelay.Relay
	clock *testclock.Clock
}

func newVenue(t *testing.T, status int) *venue {
	t.Helper()
	v := &venue{clock: testclock.At(time.Unix(1_800_000_000, 0))}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(body), "bad") {
			w.WriteHeader(status)
			return
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(v.Close)
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.DocumentsTable
	v.relay = venuerelay.New(v.URL, relaybudget.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
		return store.NewDocuments(db, table, kind, limits)
	}, 1_000_000, v.clock.Now), v.clock.Now)
	return v
}

// answers reports whether a question is answered that nobody has asked before.
func (v *venue) answers(t *testing.T, name string, n int) bool {
	t.Helper()
	_, err := v.relay.Ask(t.Context(), 2, map[string]any{"type": "vaultDetails", "vault": fmt.Sprint(name, n)})
	return err == nil
}

func TestOneQuestionAtWhichTheVenueFailsSilencesNoOther(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 403, 413, 500, 502, 503, 504} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			v := newVenue(t, status)
			for n := range 10 {
				if v.answers(t, "bad", 0) || !v.answers(t, "good", n) {
					t.Errorf("in round %d the good question is not answered, or the bad one is", n)
				}
				v.clock.Move(6 * time.Second)
			}
			for range 10 { // nobody asks anything else
				v.answers(t, "bad", 0)
				v.clock.Move(6 * time.Second)
			}
			if !v.answers(t, "good", 10) {
				t.Error("another question is not answered behind ten failures of one")
			}
		})
	}
}

func TestAVenueThatFailsAtSeveralQuestionsInARowIsLeftAlone(t *testing.T) {
	t.Parallel()
	v := newVenue(t, http.StatusBadGateway)
	for n := range 4 {
		v.answers(t, "bad", n)
	}
	if !v.answers(t, "good", 0) {
		t.Error("it is left alone after four")
	}
	for n := range 5 {
		v.answers(t, "bad", 10+n)
	}
	if v.answers(t, "good", 1) {
		t.Error("it is asked after five in a row")
	}
	v.clock.Move(6 * time.Second)
	if !v.answers(t, "good", 2) {
		t.Error("later it is not asked")
	}
}

func TestAVenueThatIsNotThereOrAskedTooOftenIsLeftAloneAtOnce(t *testing.T) {
	t.Parallel()
	v := newVenue(t, http.StatusTooManyRequests)
	v.answers(t, "bad", 0)
	if v.answers(t, "good", 0) {
		t.Error("it is asked after 429")
	}
	v.clock.Move(6 * time.Second)
	v.Close()
	v.answers(t, "good", 1)
	v.clock.Move(time.Second)
	if _, err := v.relay.Ask(t.Context(), 2, map[string]any{"type": "vaultDetails", "vault": "good2"}); err == nil || !strings.Contains(err.Error(), "in 4 seconds") {
		t.Errorf("a second after it was not there: %v", err) // 5 if it had been asked
	}
}
