package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestTheVenuesOwnInterfaceIsAnsweredAsTheVenueDoes asks the product and the venue the same
// questions: those that are answered from what is stored, and those that the venue is asked.
func TestTheVenuesOwnInterfaceIsAnsweredAsTheVenueDoes(t *testing.T) {
	t.Parallel()
	key := issue(t, register(t, nil), map[string]any{"monthly_quota": 10_000})
	user := world.Venue.Truth().Addresses[20]
	for name, question := range map[string]map[string]any{
		"stored":     {"type": "meta"},
		"of spot":    {"type": "spotMeta"},
		"objects":    {"type": "perpDexs"},
		"no order":   {"type": "orderStatus", "user": user, "oid": 1},
		"a role":     {"type": "userRole", "user": user},
		"a mode":     {"type": "userAbstraction", "user": user},
		"of nobody":  {"type": "userRole", "user": "0x00000000000000000000000000000000000000aa"},
		"not a type": {"type": "nothing"},
		"no user":    {"type": "userFills"},
		"unknown":    {"type": "gossipRootIps"}, // which this venue does not know
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testenv.Until(t, name+" is answered alike", func() bool {
				status, want := askTheVenue(t, question)
				answer := ask(t, key, http.MethodPost, hl+"/venue/info", question)
				return answer.Status == status && sameAnswer(answer.Body, want)
			})
		})
	}
}

// askTheVenue is what the venue itself answers.
func askTheVenue(t *testing.T, question map[string]any) (status int, body []byte) {
	t.Helper()
	res := must.Get(http.Post(world.State.VenueURL+"/info", "application/json", strings.NewReader(string(must.Get(json.Marshal(question))(t)))))(t)
	defer res.Body.Close()
	return res.StatusCode, must.Get(io.ReadAll(res.Body))(t)
}

// sameAnswer reports whether two answers are the same JSON, or else the same text.
func sameAnswer(a, b []byte) bool {
	var one, other any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return strings.TrimSpace(string(a)) == strings.TrimSpace(string(b))
	}
	return fmt.Sprint(one) == fmt.Sprint(other)
}
