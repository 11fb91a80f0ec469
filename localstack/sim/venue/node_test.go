package venue

import (
	"bufio"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"quotary/shared/testing/must"
)

// What the tests read the node's files with.

// wireFill is a fill as a reader of the node's files sees it.
type wireFill struct {
	Coin, Px, Sz, Side, StartPosition, Dir, ClosedPnl, Hash, Fee, FeeToken string
	Oid, Tid, Time                                                         int64
	Crossed                                                                bool
	BuilderFee                                                             string
	TwapID                                                                 *int64 `json:"twapId"`
	Liquidation                                                            *struct {
		LiquidatedUser, MarkPx, Method string
	}
}

type wireLine struct {
	BlockNumber int64             `json:"block_number"`
	BlockTime   string            `json:"block_time"`
	Events      []json.RawMessage `json:"events"`
}

// lines reads a whole stream in order.
func lines(t testing.TB, dir string, s stream) []wireLine {
	t.Helper()
	n := nodeFiles{dir: dir}
	files := must.Get(n.list(s))(t)
	var out []wireLine
	for _, path := range files {
		f := must.Get(os.Open(path))(t)
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			var l wireLine
			if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			out = append(out, l)
		}
		f.Close()
	}
	return out
}

type userFill struct {
	user string
	wireFill
}

func nodeFills(t testing.TB, dir string) []userFill {
	t.Helper()
	var out []userFill
	for _, l := range lines(t, dir, streamFills) {
		for _, ev := range l.Events {
			var pair [2]json.RawMessage
			var f userFill
			must.Do(t, json.Unmarshal(ev, &pair))
			must.Do(t, json.Unmarshal(pair[0], &f.user))
			must.Do(t, json.Unmarshal(pair[1], &f.wireFill))
			out = append(out, f)
		}
	}
	return out
}

// withoutDust leaves out the shares of dust conversions, which are no trades.
func withoutDust(fills []userFill) []userFill {
	return slices.DeleteFunc(slices.Clone(fills), func(f userFill) bool { return f.Dir == dirNames[dustConversion] })
}

func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok || !strings.Contains(s, ".") {
		t.Fatalf("%q is not a decimal of the venue", s)
	}
	return r
}

// tree reads all node files below a directory.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(data)
		return err
	}))
	return out
}

// same compares two directories and names the first differing line.
func same(t *testing.T, a, b map[string]string) {
	t.Helper()
	var names []string
	for n := range a {
		names = append(names, n)
	}
	sort.Strings(names)
	if len(a) != len(b) || len(a) == 0 {
		t.Errorf("%d files and %d files", len(a), len(b))
	}
	for _, n := range names {
		if a[n] == b[n] {
			continue
		}
		la, lb := strings.Split(a[n], "\n"), strings.Split(b[n], "\n")
		for i := range la {
			if i >= len(lb) || la[i] != lb[i] {
				other := "<end>"
				if i < len(lb) {
					other = lb[i]
				}
				t.Fatalf("%s line %d of %d/%d:\n%.300s\n%.300s", n, i, len(la), len(lb), la[i], other)
			}
		}
		t.Fatalf("%s: second is longer", n)
	}
}
