package catalog_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// The functions of generated clients have these names, so what is in the list stays there
// as it is, also after an endpoint has gone. A new endpoint fails here once: look at the
// name that it has, give it a better one in operationIDs while that costs nobody anything,
// and add it with go test ./shared/catalog -update, which never changes a line.
func TestOperationIDsAreFrozen(t *testing.T) {
	t.Parallel()
	const list = "testdata/operations.tsv"
	text := must.Get(os.ReadFile(list))(t)
	frozen, users := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		endpoint, id, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		frozen[endpoint], users[id] = id, endpoint
	}
	added := false
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS {
			continue
		}
		id := e.OperationID()
		if !regexp.MustCompile(`^[a-z][A-Za-z0-9]{3,39}$`).MatchString(id) {
			t.Errorf("%s: the operation id %q is malformed or longer than 40 characters", e, id)
		}
		if user, taken := users[id]; taken && user != e.String() {
			t.Errorf("%s: the operation id %s is that of %s", e, id, user)
		}
		switch before, known := frozen[e.String()]; {
		case known && before != id:
			t.Errorf("%s: the operation id %s is %s for ever", e, id, before)
		case !known && !*update:
			t.Errorf("%s: the operation id %s is not in %s: run make generate if it is the right name for ever", e, id, list)
		case !known:
			frozen[e.String()], users[id], added = id, e.String(), true
		}
	}
	if !added || t.Failed() {
		return
	}
	var lines strings.Builder
	for _, endpoint := range slices.Sorted(maps.Keys(frozen)) {
		lines.WriteString(endpoint + "\t" + frozen[endpoint] + "\n")
	}
	must.Do(t, os.WriteFile(list, []byte(lines.String()), 0o644))
}
