package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

var update = flag.Bool("update", false, "write the table of the documentation")

// program is a client: its name in the table and what runs it.
type program struct {
	name, file string
	runs       string // node or python
}

var programs = []program{
	{"Hyperliquid Python SDK, `Info`", "python_sdk.py", "python"},
	{"@nktkas/hyperliquid, `InfoClient`", "nktkas.mjs", "node"},
	{subscriptions, "nktkas_feeds.mjs", "node"},
	{"ccxt, `hyperliquid`", "ccxt.mjs", "node"},
}

// subscriptions are those of a client that the product refuses where it does not offer them.
const subscriptions = "@nktkas/hyperliquid, `SubscriptionClient`"

// offered are the subscriptions that must work.
var offered = []string{
	"trades", "l2Book", "bbo", "candle", "userFills", "userNonFundingLedgerUpdates", "openOrders", "clearinghouseState",
	"allMids", "activeAssetCtx", "activeSpotAssetCtx", "orderUpdates", "userEvents", "userFundings",
}

// withoutSnapshot are those that show what happens from then on.
var withoutSnapshot = []string{"orderUpdates", "userEvents"}

// out are methods that cannot work, with the reason that stands in the table.
var out = map[string]string{
	"blockDetails": "asks another host, the explorer", "txDetails": "asks another host, the explorer", "userDetails": "asks another host, the explorer",
	"legalCheck": "is about the address that asks, which would be the service's",
}

// varied are members that are another thing in each element.
var varied = []string{".delta"}

// TestTheVenuesOwnClientsWork has each client call all of its read methods. One that fails or says
// less than of the venue itself falls short.
func TestTheVenuesOwnClientsWork(t *testing.T) {
	if os.Getenv("QUOTARY_CLIENTS") == "" {
		t.Skip("make test-clients runs this")
	}
	venue := newStandIn(t)
	live := must.Get(stack.Start(t.Context(), stack.Config{
		Data: t.TempDir(), Programs: must.Get(testenv.Programs())(t), Tools: filepath.Join(testenv.Root, "localstack"), Upstream: "simulated", History: 1,
		FunctionEnv: []string{catalog.EnvHyperliquidURL.Name + "=" + venue.URL, catalog.EnvRelayWeight.Name + "=100000"},
	}))(t)
	t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), time.Minute)
		defer done()
		must.Do(t, live.Stop(ctx))
	})
	venue.simulated.Store(&live.State.VenueURL)
	account := busiest(live)
	known(t, live, account)
	var table strings.Builder
	table.WriteString("| Client | Method | Result |\n|---|---|---|\n")
	for _, p := range programs {
		of := []string{"ACCOUNT=" + account, "SPOT=@107", fmt.Sprint("SINCE=", time.Now().Add(-20*time.Hour).UnixMilli())}
		product := p.run(t, append(of, "BASE="+live.State.BaseURL+"/upgrade/v2/hl/venue/", "FEED="+live.State.WSBaseURL+"/upgrade/v2/hl/ws", "ACCESS_KEY="+live.State.Demo.SubKey.AccessKey, "SECRET_KEY="+live.State.Demo.SubKey.SecretKey))
		itself := p.run(t, append(of, "BASE="+venue.URL+"/", "FEED="+strings.Replace(live.State.VenueURL, "http", "ws", 1)+"/ws"))
		if len(product) < 20 || len(product) != len(itself) {
			t.Errorf("%s has %d methods on the product and %d on the venue", p.name, len(product), len(itself))
		}
		for _, method := range slices.Sorted(maps.Keys(product)) {
			result := "works"
			got, want := product[method], itself[method]
			switch reason, isOut := out[method]; {
			case isOut:
				result = "not offered: " + reason
			case p.name == subscriptions && !slices.Contains(offered, method):
				result = "not offered"
				if !strings.HasPrefix(got.Error, "refused: ") {
					t.Errorf("%s, %s is not refused: %s", p.name, method, got.Error)
				}
			case got.Error != "" && want.Error != "":
				t.Errorf("%s, %s fails everywhere: %s, and of the venue %s", p.name, method, got.Error, want.Error)
			case got.Error != "":
				t.Errorf("%s, %s: %s", p.name, method, got.Error)
			case p.name == subscriptions && slices.Contains(withoutSnapshot, method):
				result = "works, without a snapshot" // mostly nothing has happened meanwhile
			default:
				for _, short := range shortOf("", got.Result, want.Result) {
					t.Errorf("%s, %s falls short: %s", p.name, method, short)
				}
			}
			fmt.Fprintf(&table, "| %s | `%s` | %s |\n", p.name, method, result)
		}
	}
	hold(t, table.String())
}

// answer is what came of a method.
type answer struct {
	Method, Error string
	Result        any
}

// run runs a client, and returns what came of its methods.
func (p *program) run(t *testing.T, env []string) map[string]answer {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 5*time.Minute)
	defer done()
	cmd := exec.CommandContext(ctx, p.runs, p.file)
	if python := os.Getenv("QUOTARY_PYTHON"); p.runs == "python" && python != "" {
		cmd = exec.CommandContext(ctx, python, p.file)
	}
	cmd.Dir = filepath.Join(testenv.Root, "tools", "clients")
	cmd.Env = append(os.Environ(), env...)
	var said, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &failed
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", p.file, err, failed.Bytes())
	}
	all := map[string]answer{}
	lines := bufio.NewScanner(&said)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var a answer
		must.Do(t, json.Unmarshal(lines.Bytes(), &a))
		all[a.Method] = a
	}
	must.Do(t, lines.Err())
	return all
}

// shortOf lists where an answer says less than another: a member that is missing, null or of
// another kind, a list that is empty.
func shortOf(path string, got, want any) (list []string) {
	if want == nil || slices.ContainsFunc(varied, func(end string) bool { return strings.HasSuffix(path, end) }) {
		return nil
	}
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, of the venue an object", path, got)}
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			member, has := object[name]
			if !has && want[name] != nil && !isEntry(name) {
				list = append(list, path+"."+name+" is missing")
			} else if has {
				list = append(list, shortOf(path+"."+name, member, want[name])...)
			}
		}
	case []any:
		elements, ok := got.([]any)
		switch {
		case !ok:
			return []string{fmt.Sprintf("%s is %T, of the venue a list", path, got)}
		case len(elements) == 0 && len(want) > 0:
			return []string{path + " is empty, of the venue it has elements"}
		}
		for n := range min(len(elements), len(want), 3) {
			list = append(list, shortOf(fmt.Sprintf("%s[%d]", path, n), elements[n], want[n])...)
		}
	default:
		if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) {
			return []string{fmt.Sprintf("%s is %v, of the venue %v", path, got, want)}
		}
	}
	return list
}

// isEntry reports whether a member of an object is named by what it is of, as a time or a number,
// so that it comes and goes.
func isEntry(name string) bool { return strings.Trim(name, "0123456789.") == "" }

// busiest is a trader with many fills.
func busiest(s *stack.Stack) (address string) {
	most := 0
	for _, one := range s.Venue.Truth().Addresses {
		if truth := s.Venue.TruthOf(one); truth.Joined && truth.Fills > most && truth.Mode == "default" {
			address, most = one, truth.Fills
		}
	}
	return address
}

// known waits until the product knows an account, which somebody must ask for first.
func known(t *testing.T, s *stack.Stack, account string) {
	t.Helper()
	api := client.Client{BaseURL: s.State.BaseURL}
	for _, kind := range []string{"frontendOpenOrders", "spotClearinghouseState", "webData2", "portfolio"} {
		testenv.Until(t, kind+" of the account is known", func() bool {
			got, err := api.Do(t.Context(), s.State.Demo.SubKey, http.MethodPost, "/upgrade/v2/hl/info", nil, map[string]string{"type": kind, "user": account})
			return err == nil && got.Status == http.StatusOK && !bytes.Contains(got.Body, []byte(`"data":null`))
		})
	}
}

// standIn is the venue: the simulated one, but for what that does not know, which has the shapes
// of the genuine one.
type standIn struct {
	*httptest.Server
	simulated atomic.Pointer[string]
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	answers := map[string]json.RawMessage{}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join("testdata", "relayed.json")))(t), &answers))
	s := new(standIn)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var question struct{ Type string }
		_ = json.Unmarshal(body, &question)
		if known := answers[question.Type]; known != nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(known)
			return
		}
		base := s.simulated.Load()
		if base == nil {
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		res, err := http.Post(*base+"/info", "application/json", bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(s.Close)
	return s
}

// hold compares the table with that of the documentation, or writes it.
func hold(t *testing.T, table string) {
	t.Helper()
	const begin, end = "<!-- clients: written by make test-clients UPDATE=1 -->\n", "<!-- end of clients -->"
	path := filepath.Join(testenv.Root, "docs", "clients.md")
	text := string(must.Get(os.ReadFile(path))(t))
	head, rest, ok := strings.Cut(text, begin)
	_, tail, both := strings.Cut(rest, end)
	if !ok || !both {
		t.Fatalf("%s has no table", path)
	}
	if want := head + begin + table + end + tail; want != text {
		if !*update {
			t.Errorf("%s is not what came of the methods: run make test-clients UPDATE=1", path)
			return
		}
		must.Do(t, os.WriteFile(path, []byte(want), 0o644))
	}
}
