package source_test

import (
	"errors"
	"fmt"
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
