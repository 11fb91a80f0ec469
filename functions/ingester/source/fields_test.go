package source_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

func TestRowsOfPairsAreReadAndThoseThatCannotBeAreNamed(t *testing.T) {
	t.Parallel()
	pairs := []market.Pair{{Key: "a:x", Symbol: "A"}, {Key: "b:x", Symbol: "B"}, {Key: "c:x", Symbol: "C"}}
	read := func(row *string, pair *market.Pair) (string, error) {
		if strings.HasSuffix(*row, "!") {
			return "half read", errors.New("is no figure")
		}
		return pair.Key + "=" + *row, nil
	}
	list, err := source.OfPairs("figure", []string{"B2", "N0", "A!", "C3", "B4"}, pairs, func(row *string) string { return (*row)[:1] }, read)
	if got, want := fmt.Sprint(list), "[b:x=B2 c:x=C3 b:x=B4]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err == nil || err.Error() != "figure of a:x: is no figure" {
		t.Error(err)
	}
}

// However much is wrong in an answer, what is said of it is short, and quotes little.
func TestAnErrorOfRowsIsShort(t *testing.T) {
	t.Parallel()
	pairs, long := []market.Pair{{Key: "a:x", Symbol: "A"}}, strings.Repeat("\x00", 1<<20)
	_, err := source.OfPairs("figure", slices.Repeat([]string{long}, 20_000), pairs, func(*string) string { return "A" }, func(row *string, _ *market.Pair) (n int64, err error) {
		return n, source.Milliseconds(*row, &n)
	})
	if err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "19999 more") {
		t.Errorf("%.300v", err)
	}
	if _, err := source.NewKlineRow(long, "1", "1", "1", "1", "1", "1"); err == nil || len(err.Error()) > 200 {
		t.Errorf("%.300v", err)
	}
}
