package indexsite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"quotary/localstack/sim"
)

// SECPath is where filings are.
const SECPath = "/indices/sec"

// companies is how many there are: their numbers are from 1 on.
const companies = 3

// Filing is what a company has filed last: plain decimals.
type Filing struct{ Name, Shares, Diluted, Cash, Debt string }

// Filed is what the company of a number has filed last.
func (s *Site) Filed(cik int64) Filing {
	return Filing{
		Name:    fmt.Sprintf("SIMULATED COMPANY %d", cik),
		Diluted: strconv.FormatInt(210_000_000+s.draw(100_000_000, "diluted", cik), 10),
		Shares:  strconv.FormatInt(100_000_000+s.draw(100_000_000, "shares", cik), 10),
		Cash:    strconv.FormatInt(10_000_000+s.draw(90_000_000, "cash", cik), 10),
		Debt:    strconv.FormatInt(1_000_000_000+s.draw(9_000_000_000, "debt", cik), 10),
	}
}

// Held is how many bitcoins the company of a number has filed last that it holds, "" of a company
// that files none: those of an even number do.
func (s *Site) Held(cik int64) string {
	if cik%2 != 0 {
		return ""
	}
	return strconv.FormatInt(1000+s.draw(9000, "bitcoins", cik), 10)
}

// fact is a value as EDGAR writes it.
type fact struct {
	End   string      `json:"end"`
	Value json.Number `json:"val"`
	Form  string      `json:"form"`
	Filed string      `json:"filed"`
}

// serveFacts writes the facts of a company: two quarters, of which the second is what counts,
// and a later filing of another form, which does not.
func (s *Site) serveFacts(w http.ResponseWriter, r *http.Request) {
	digits, isFacts := strings.CutSuffix(strings.TrimPrefix(r.PathValue("file"), "CIK"), ".json")
	cik, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case !strings.Contains(r.UserAgent(), "@"):
		http.Error(w, "<html>Undeclared automated tool (simulated)</html>", http.StatusForbidden)
		return
	case !isFacts || err != nil || len(digits) != 10 || cik < 1 || cik > companies:
		http.NotFound(w, r)
		return
	}
	f, today := s.Filed(cik), s.cfg.Now().UTC()
	units := func(unit, last string) map[string]any {
		at := func(days int) string { return today.AddDate(0, 0, -days).Format(time.DateOnly) }
		return map[string]any{"units": map[string][]fact{unit: {
			{at(130), "1", "10-Q", at(100)}, {at(40), json.Number(last), "10-Q", at(10)}, {at(20), "2", "8-K", at(5)},
		}}}
	}
	gaap := map[string]any{"CashAndCashEquivalentsAtCarryingValue": units("USD", f.Cash), "LongTermDebt": units("USD", f.Debt),
		"WeightedAverageNumberOfDilutedSharesOutstanding": units("shares", f.Diluted)}
	if held := s.Held(cik); held != "" {
		gaap["CryptoAssetNumberOfUnits"] = units("Bitcoin", held)
	}
	sim.JSON(w, http.StatusOK, map[string]any{"cik": cik, "entityName": f.Name, "facts": map[string]any{
		"dei": map[string]any{"EntityCommonStockSharesOutstanding": units("shares", f.Shares)}, "us-gaap": gaap,
	}})
}
