package catalog_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The list of endpoints that the service promises, kept apart from the code.
func TestTheCatalogIsTheSpecifiedList(t *testing.T) {
	t.Parallel()
	want := make(map[string]string)
	f := must.Get(os.Open("testdata/endpoints.tsv"))(t)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		if columns[0] == "method" {
			continue
		}
		want[columns[0]+" "+columns[1]] = columns[2] + " " + columns[3]
	}
	if len(want) != 152 {
		t.Fatalf("the list has %d endpoints, want 152", len(want))
	}
	for _, e := range catalog.All() {
		if e.Addition {
			if _, ok := want[e.String()]; ok {
				t.Errorf("%s is in the list: it is no addition", e)
			}
			continue
		}
		envelope := string(e.Envelope)
		if envelope == "" {
			envelope = "-"
		}
		got := e.Access.String() + " " + envelope
		switch expected, ok := want[e.String()]; {
		case !ok:
			t.Errorf("%s is not in the list", e)
		case got != expected:
			t.Errorf("%s demands and answers %q, want %q", e, got, expected)
		}
		delete(want, e.String())
	}
	for missing := range want {
		t.Errorf("%s is missing", missing)
	}
}

// The list of what is specified and not built. It only shrinks: a line that
// leaves it never comes back.
func TestPlannedEndpointsAreListed(t *testing.T) {
	t.Parallel()
	var planned []string
	for _, e := range catalog.All() {
		if e.Planned {
			planned = append(planned, e.String())
		}
	}
	got := strings.Join(planned, "\n") + "\n"
	const golden = "testdata/planned.txt"
	before, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if *update {
		if known := strings.Fields(strings.ReplaceAll(string(before), " ", "_")); len(known) > 0 {
			for _, line := range planned {
				if !slices.Contains(known, strings.ReplaceAll(line, " ", "_")) {
					t.Fatalf("%s was not planned before: the list only shrinks", line)
				}
			}
		}
		must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
		return
	}
	if got != string(before) {
		t.Errorf("the planned endpoints differ from %s: run make generate\n%s", golden, got)
	}
}

// A request with a start would slip past the limit on time spans if its type
// did not say so, and one that ends before it could not be told what to change.
func TestRequestsWithAStartAreSpanners(t *testing.T) {
	t.Parallel()
	for _, e := range catalog.All() {
		if e.In == nil {
			continue
		}
		for _, p := range catalog.Parameters(e.In) {
			name := strings.ToLower(p.Field.Name)
			if strings.HasPrefix(name, "start") || strings.HasPrefix(name, "end") || strings.Contains(name, "timefrom") {
				if !e.In.Implements(reflect.TypeFor[catalog.Spanner]()) {
					t.Errorf("%s has the field %s but %s does not implement Spanner", e, p.Field.Name, e.In)
				}
				if start, end := catalog.BoundsSpan(p.Names[0]); !start && !end {
					t.Errorf("%s of %s is no bound of a span by its name", p.Names[0], e)
				}
			}
		}
	}
}

func TestPathParametersAreBound(t *testing.T) {
	t.Parallel()
	for _, e := range catalog.All() {
		if e.In == nil {
			continue
		}
		var bound []string
		for i := range e.In.NumField() {
			if name := e.In.Field(i).Tag.Get("path"); name != "" {
				bound = append(bound, "{"+name+"}")
			}
		}
		for _, segment := range strings.Split(e.Documented(), "/") {
			if strings.HasPrefix(segment, "{") && !slices.Contains(bound, segment) {
				t.Errorf("%s does not bind %s", e, segment)
			}
		}
		if n := strings.Count(e.Documented(), "{"); n != len(bound) {
			t.Errorf("%s has %d path parameters and binds %d", e, n, len(bound))
		}
	}
}

// Clients write the slash in the name of a coin as it is, and the gateway cannot tell
// it from the end of a segment.
func TestACoinTakesTheRestOfThePath(t *testing.T) {
	t.Parallel()
	coins := 0
	for _, e := range catalog.All() {
		before, behind, ok := strings.Cut(e.Documented(), "{coin}")
		if !ok {
			continue
		}
		coins++
		if e.Path != before+"{coin+}" {
			t.Errorf("the gateway routes %s as %s", e, e.Path)
		}
		for _, coin := range []string{"BTC", "PURR/USDC", "PURR%2FUSDC"} {
			taken := strings.NewReplacer("{interval}", "1h").Replace(coin + behind)
			values := e.Values(map[string]string{"address": "0x", "coin": taken})
			if values["coin"] != coin || values["address"] != "0x" || behind != "" && values["interval"] != "1h" {
				t.Errorf("%s: %s gives %v", e, taken, values)
			}
		}
	}
	if coins < 10 {
		t.Errorf("%d paths have a coin", coins)
	}
	if values := catalog.TakerKlines.Values(map[string]string{"coin": "BTC"}); values != nil {
		t.Errorf("without an interval: %v", values)
	}
}

func TestGatewayResponsesAreJSON(t *testing.T) {
	t.Parallel()
	for _, r := range slices.Concat(catalog.GatewayResponses(), catalog.LocalResponses(), []catalog.GatewayResponse{catalog.MethodNotAllowed()}) {
		var body struct {
			Success   *bool  `json:"success"`
			Code      string `json:"code"`
			ErrorCode int    `json:"errorCode"`
			Status    int    `json:"status"`
			Error     string `json:"error"`
			Msg       string `json:"msg"`
			Message   string `json:"message"`
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(r.Template), &body); err != nil {
			t.Errorf("%s: %v", r.Type, err)
			continue
		}
		if body.Success == nil || *body.Success || body.Code == "" || body.Error == "" || body.Error != body.Msg || body.Error != body.Message || body.RequestID == "" {
			t.Errorf("%s lacks a field of the error body: %s", r.Type, r.Template)
		}
		if r.Status != 0 && (body.Status != r.Status || body.ErrorCode != r.Status) {
			t.Errorf("%s answers %d with the body %s", r.Type, r.Status, r.Template)
		}
	}
}

func TestParameterTypes(t *testing.T) {
	t.Parallel()
	type text interface{ UnmarshalText([]byte) error }
	for _, tt := range []struct {
		into     text
		accepted []string
		refused  []string
	}{
		{new(catalog.Address), []string{"0x010461c14e146ac35fe42271bdc1134ee31c703a", "0x010461C14E146AC35FE42271BDC1134EE31C703A", "0X010461c14e146ac35fe42271bdc1134ee31c703a"},
			[]string{"", "0x", "010461c14e146ac35fe42271bdc1134ee31c703a00", "0x010461c14e146ac35fe42271bdc1134ee31c703g", "0x010461c14e146ac35fe42271bdc1134ee31c703", " 0x010461c14e146ac35fe42271bdc1134ee31c703a"}},
		{new(catalog.Coin), []string{"BTC", "kPEPE", "@107", "PURR/USDC", "km:USTECH"}, []string{"", "B TC", "BTC#", "B\u00e9", strings.Repeat("A", 33), "%41"}},
		{new(catalog.Millis), []string{"0", "1773532799991"}, []string{"", "-1", "1.5", "1e3", "99999999999999999", "now"}},
		{new(catalog.Days), []string{"0", "7", "7d", "365", "365d"}, []string{"", "d", "366", "-1", "+1", "7h", "7dd", "1.5", "99999999999999999999"}},
		{new(catalog.WindowDays), []string{"0", "1", "7", "7d", "30d"}, []string{"", "d", "2", "90", "-7", "+7", "7.0"}},
		{new(catalog.LongDays), []string{"1", "7", "7d", "30", "60d", "90"}, []string{"", "d", "0", "0d", "2", "91", "-7", "+7", "7.0"}},
		{new(catalog.LongWindowDays), []string{"0", "0d", "1", "90", "60d"}, []string{"", "d", "2", "365", "-7", "+7", "7.0"}},
		{new(catalog.Lookback), []string{"1s", "15m", "4h", "7d", "2w"}, []string{"", "s", "0s", "-1m", "+1m", "1", "1M", "1.5h", "99999999999s"}},
		{new(catalog.Moment), []string{"2026-11-20", "2026-11-20T08:00:00Z", "-15m", "-1w"}, []string{"", "-", "15m", "-0s", "--1m", "-1y", "-99999w", "now"}},
		{new(catalog.Int), []string{"0", "-5", "30"}, []string{"", "x", "1.0", "+1"}},
	} {
		for _, s := range tt.accepted {
			if err := tt.into.UnmarshalText([]byte(s)); err != nil {
				t.Errorf("%T refused %q: %v", tt.into, s, err)
			}
		}
		for _, s := range tt.refused {
			if err := tt.into.UnmarshalText([]byte(s)); err == nil {
				t.Errorf("%T accepted %q", tt.into, s)
			}
		}
	}
	var a catalog.Address
	if err := a.UnmarshalText([]byte("0x010461C14E146AC35FE42271BDC1134EE31C703A")); err != nil || a != "0x010461c14e146ac35fe42271bdc1134ee31c703a" {
		t.Errorf("an address must become lower case, got %q (%v)", a, err)
	}
	var l catalog.Lookback
	if err := l.UnmarshalText([]byte("15m")); err != nil || l.Duration() != 15*time.Minute {
		t.Errorf("15m became %v (%v)", l.Duration(), err)
	}
	var i struct{ A, B catalog.Int }
	if err := json.Unmarshal([]byte(`{"A":"30","B":30}`), &i); err != nil || i.A != 30 || i.B != 30 {
		t.Errorf("numbers as strings: %+v (%v)", i, err)
	}
}
