package sec_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sec"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// asked is when answers are read.
var asked = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// body is an answer with values of concepts.
func body(cik int, concepts ...string) string {
	byTaxonomy := map[string][]string{}
	for _, c := range concepts {
		taxonomy, rest, _ := strings.Cut(c, ":")
		name, values, _ := strings.Cut(rest, " ")
		unit := "USD"
		if strings.Contains(name, "Shares") {
			unit = "shares"
		}
		byTaxonomy[taxonomy] = append(byTaxonomy[taxonomy], fmt.Sprintf(`%q:{"label":"x","units":{%q:[%s]}}`, name, unit, values))
	}
	return fmt.Sprintf(`{"cik":%d,"entityName":"ACME INC","facts":{"dei":{%s},"us-gaap":{%s}}}`, cik, strings.Join(byTaxonomy["dei"], ","), strings.Join(byTaxonomy["us-gaap"], ","))
}

func value(end, val, form, filed string) string {
	return fmt.Sprintf(`{"end":%q,"val":%s,"accn":"1-1","fy":2026,"fp":"Q3","form":%q,"filed":%q}`, end, val, form, filed)
}

func text(f market.CompanyFacts) string {
	one := func(f market.Fact) string { return f.Value + " " + f.AsOf + " " + f.Form }
	return one(f.Shares) + "; " + one(f.Cash) + "; " + one(f.Debt)
}

func TestTheNewestValuesOfReportsAreTaken(t *testing.T) {
	t.Parallel()
	const (
		shares, common, average = "dei:EntityCommonStockSharesOutstanding ", "us-gaap:CommonStockSharesOutstanding ", "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic "
		cash, debt, noncurrent  = "us-gaap:CashAndCashEquivalentsAtCarryingValue ", "us-gaap:LongTermDebt ", "us-gaap:LongTermDebtNoncurrent "
	)
	third := func(val, filed string) string { return value("2026-09-30", val, "10-Q", filed) }
	period := func(start, val string) string {
		return strings.Replace(third(val, "2026-11-03"), "{", `{"start":"`+start+`",`, 1)
	}
	for name, tt := range map[string]struct{ given, want string }{
		"the newest of each": {
			body(7, shares+third("100", "2026-11-03")+","+value("2026-06-30", "90", "10-Q", "2026-08-03"), cash+third("5.5", "2026-11-03"), debt+value("2025-12-31", "8", "10-K", "2026-02-03")),
			"100 2026-09-30 10-Q; 5.5 2026-09-30 10-Q; 8 2025-12-31 10-K 0",
		},
		"what is filed later mends it":         {body(7, cash+third("5", "2026-11-03")+","+value("2026-09-30", "6", "10-Q/A", "2026-11-05")+","+third("5", "2026-11-04")), "; 6 2026-09-30 10-Q/A;   0"},
		"other forms are left out":             {body(7, cash+third("5", "2026-11-03")+","+value("2026-10-30", "9", "8-K", "2026-11-05")), "; 5 2026-09-30 10-Q;   0"},
		"an older concept gives way":           {body(7, debt+value("2024-12-31", "8", "10-K", "2025-02-03"), noncurrent+third("9", "2026-11-03")), "; ; 9 2026-09-30 10-Q 0"},
		"the plainer concept of a day":         {body(7, average+third("99", "2026-11-03"), common+third("100", "2026-11-03")), "100 2026-09-30 10-Q;  ;   0"},
		"the shortest period":                  {body(7, average+period("2026-01-01", "80")+","+period("2026-07-01", "90")+","+period("2026-01-01", "80")), "90 2026-09-30 10-Q;  ;   0"},
		"values that are none are counted":     {body(7, cash+third("-5", "2026-11-03")+","+third(`"x"`, "2026-11-03")+","+third("5", "no day")+",7,"+value("2027-09-30", "5", "10-Q", "2026-11-03")+","+third("4", "2026-11-03")), "; 4 2026-09-30 10-Q;   5"},
		"what is filed the day after tomorrow": {body(7, cash+third("5", "2026-11-21")+","+third("9", "2026-11-22")+","+value("9999-12-30", "9", "10-Q", "9999-12-31")), "; 5 2026-09-30 10-Q;   2"},
		"nothing of it":                        {body(7), "it has neither shares nor cash nor debt nor coins"},
		"another company":                      {body(8, cash+third("5", "2026-11-03")), "it is of another company"},
		"HTML":                                 {"<html>Your Request Originates from an Undeclared Automated Tool</html>", "it is no list of facts"},
		"other JSON":                           {`{"message":"x"}`, "it is no list of facts"},
		"empty":                                {"", "it is no list of facts"},
	} {
		facts, malformed, err := sec.Read([]byte(tt.given), sec.Company{Key: "k", CIK: 7}, asked)
		got := fmt.Sprint(text(facts), " ", malformed)
		if err != nil {
			got = err.Error()
		}
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(tt.want), " ") {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// Coins are filed in units of their own. Of a day the report that was filed last counts, and a
// number without a unit may be of any coin.
func TestCoinsThatAreHeldAreTaken(t *testing.T) {
	t.Parallel()
	values := func(list ...string) string { return "[" + strings.Join(list, ",") + "]" }
	given := fmt.Sprintf(`{"cik":7,"entityName":"ACME INC","facts":{"us-gaap":{"CryptoAssetNumberOfUnits":{"units":{"Bitcoin":%s,"pure":%s,"ETH":%s}}}}}`,
		values(value("2026-06-30", "90", "10-Q", "2026-08-03"), value("2026-09-30", "100.5", "10-Q", "2026-11-03"), value("2026-06-30", "91", "10-Q", "2026-11-03"),
			value("2026-10-31", "200", "8-K", "2026-11-05"), value("2026-03-31", "-1", "10-Q", "2026-05-01")),
		values(value("2026-09-30", "7", "10-Q", "2026-11-03")), values(value("2025-12-31", "3", "10-K", "2026-02-01")))
	facts, malformed, err := sec.Read([]byte(given), sec.Company{Key: "k", CIK: 7}, asked)
	got := ""
	for _, held := range facts.Held {
		got += fmt.Sprint(held.Coin, " ", held.AsOf, " ", held.Value, " of ", held.Filed, "; ")
	}
	if want := "BTC 2026-06-30 91 of 2026-11-03; BTC 2026-09-30 100.5 of 2026-11-03; ETH 2025-12-31 3 of 2026-02-01; "; err != nil || malformed != 1 || got != want {
		t.Errorf("got %s, want %s (%d malformed, %v)", got, want, malformed, err)
	}
}

func TestCompaniesAreFollowed(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		switch n := asked[r.URL.Path]; {
		case r.UserAgent() != "Acme ops@acme.example":
			t.Errorf("asked as %q", r.UserAgent())
		case r.URL.Path != "/api/xbrl/companyfacts/CIK0000000007.json":
			http.NotFound(w, r)
		case n == 1: // blocked
			w.Header().Set("Retry-After", "1")
			http.Error(w, "<html>blocked</html>", http.StatusForbidden)
		case n == 2: // which passes by
			http.Error(w, "busy", http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, body(7, "us-gaap:LongTermDebt "+value("2026-09-30", fmt.Sprint(8+n/5), "10-Q", "2026-11-03")))
		}
	}))
	defer server.Close()
	enough := errors.New("enough")
	var got []string
	f := &sec.Facts{URL: server.URL, Contact: "Acme ops@acme.example", Companies: []sec.Company{{"i:gone:nyse", 9}, {"i:acme:nyse", 7}}, Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	err := f.Follow(t.Context(), func(_ context.Context, _ time.Time, facts market.CompanyFacts) error {
		if got = append(got, facts.Key+" "+facts.Debt.Value); len(got) == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || strings.Join(got, ",") != "i:acme:nyse 8,i:acme:nyse 9" {
		t.Errorf("%v: %v", err, got)
	}
}

func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	sourcetest.RefusesEndless(t, upstream.Bounds{Bytes: 32 << 20, Rows: 10_000}, `{"facts":{"dei":{"EntityCommonStockSharesOutstanding":{"units":{"shares":[`, func(url string) error {
		return sourcetest.Logged(t.Context(), func(ctx context.Context, log *slog.Logger) {
			f := sec.Facts{URL: url, Contact: "tests@example.com", Companies: []sec.Company{{Key: "i:acme:nasdaq", CIK: 7}}, Every: time.Hour, Stats: new(source.Stats), Log: log}
			_ = f.Follow(ctx, func(context.Context, time.Time, market.CompanyFacts) error { return nil })
		})
	})
}

func TestANameIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Replace(body(7, "us-gaap:LongTermDebt "+value("2026-09-30", "8", "10-Q", "2026-11-03")), "ACME INC", "A\u202e"+strings.Repeat("é", 8<<20), 1)
	facts, _, err := sec.Read([]byte(long), sec.Company{Key: "k", CIK: 7}, asked)
	if want := "A" + strings.Repeat("é", 98); err != nil || facts.Name != want {
		t.Errorf("%d bytes, %v", len(facts.Name), err)
	}
}

// Concepts that are not read cost nothing, whatever they hold.
func TestOtherConceptsAreLeftOut(t *testing.T) {
	t.Parallel()
	answer := body(7, "dei:EntityCommonStockSharesOutstanding "+value("2026-09-30", "100", "10-Q", "2026-10-30"))
	other := strings.Replace(answer, `"us-gaap":{`, `"us-gaap":{"Other":[[],"x",{"units":7}],"More":null`, 1)
	got, malformed, err := sec.Read([]byte(other), sec.Company{Key: "i:acme:nasdaq", CIK: 7}, asked)
	if err != nil || malformed > 0 || got.Shares.Value != "100" {
		t.Errorf("%+v, %d, %v", got, malformed, err)
	}
}

// Values in other units are not read, and those that are read are bounded over all concepts.
func TestValuesAreBoundedOverAllConcepts(t *testing.T) {
	t.Parallel()
	const shares = `"EntityCommonStockSharesOutstanding":{"units":{"shares":[`
	values := func(n int) string { return strings.Repeat("{},", n-1) + "{}" }
	one := value("2026-09-30", "100", "10-Q", "2026-10-30")
	answer := func(dei string) []byte { return fmt.Appendf(nil, `{"cik":7,"facts":{"dei":{%s}}}`, dei) }
	for name, tt := range map[string]struct {
		dei       string
		malformed int
		bounds    bool
	}{
		"of one concept":                {shares + values(9_999) + "," + one + "]}}", 9_999, false},
		"one too many":                  {shares + values(10_000) + "," + one + "]}}", 0, true},
		"in a unit that comes again":    {shares + values(6_000) + `],"shares":[` + values(6_000) + "]}}", 0, true},
		"in other units":                {`"EntityCommonStockSharesOutstanding":{"units":{"EUR":[` + values(9_000) + `],"x":[` + values(9_000) + `],"shares":[` + one + "]}}", 0, false},
		"of which a unit is no list":    {`"EntityCommonStockSharesOutstanding":{"units":{"shares":7}}`, 1, false},
		"of several concepts":           {shares + values(6_000) + `]}}},"us-gaap":{"CommonStockSharesOutstanding":{"units":{"shares":[` + values(6_000) + "]}}", 0, true},
		"of a concept that comes again": {shares + values(6_000) + "]}}," + shares + one + "]}}", 0, false},
	} {
		_, malformed, err := sec.Read(answer(tt.dei), sec.Company{Key: "k", CIK: 7}, asked)
		if errors.Is(err, upstream.ErrBounds) != tt.bounds || malformed != tt.malformed {
			t.Errorf("%s: %d are none: %v", name, malformed, err)
		}
	}
}
