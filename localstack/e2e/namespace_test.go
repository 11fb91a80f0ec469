package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/testing/must"
)

// Two stacks on one DynamoDB know nothing of each other, and a stack whose demo
// keys its database does not know makes new ones, which it then keeps.
func TestStacksOnOneDatabaseAreApart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	foreign := must.Get(json.Marshal(world.State.Demo))(t)
	for name, text := range map[string]string{"demo.json": string(foreign), stack.LayoutFile: fmt.Sprint(stack.Layout)} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	var states []stack.State
	for range 2 {
		other := must.Get(stack.Start(t.Context(), stack.Config{
			Data: folder, Programs: programs, Tools: filepath.Join(root, "localstack"),
			DynamoDB: world.State.DynamoDB, Upstream: "none",
		}))(t)
		states = append(states, other.State)
		ask := func(at stack.State, key client.Key, want int) {
			t.Helper()
			answer, err := client.Client{BaseURL: at.BaseURL}.Get(t.Context(), key, d+"/info", nil)
			if err != nil || answer.Status != want {
				t.Errorf("%s at %s: status %d, want %d, %v", key.AccessKey, at.BaseURL, answer.Status, want, err)
			}
		}
		ask(other.State, other.State.Demo.Primary, http.StatusOK)
		ask(other.State, world.State.Demo.Primary, http.StatusUnauthorized)
		ask(world.State, other.State.Demo.Primary, http.StatusUnauthorized)
		stopping, done := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		if err := other.Stop(stopping); err != nil {
			t.Error(err)
		}
		done()
	}
	if states[0].Demo != states[1].Demo || states[0].Tables != states[1].Tables {
		t.Errorf("the second start has %+v in %s, the first had %+v in %s", states[1].Demo, states[1].Tables, states[0].Demo, states[0].Tables)
	}
	if err := dropTables(t.Context(), states[1]); err != nil {
		t.Error(err)
	}
}
