package sec

import (
	"encoding/json"
	"testing"

	"quotary/shared/testing/must"
)

// Companies file hundreds of concepts, of which nothing is kept.
func TestConceptsThatAreNotReadAreNotKept(t *testing.T) {
	t.Parallel()
	var kept concepts
	if err := json.Unmarshal([]byte(`{"Assets":{"units":{}},"LongTermDebt":{"units":{}},"Revenues":{"units":{}}}`), &kept); err != nil || len(kept) != 1 || kept["LongTermDebt"] == nil {
		t.Errorf("%s, %v", kept, err)
	}
}

func TestTaxonomiesThatAreNotReadAreNotKept(t *testing.T) {
	t.Parallel()
	var a answer
	must.Do(t, json.Unmarshal([]byte(`{"facts":{"a":{},"b":{"LongTermDebt":{"units":{}}},"us-gaap:LongTermDebt":{},"":{},"us-gaap":{"LongTermDebt":{"units":{}},"b":1}}}`), &a))
	if len(a.Facts) != 1 || len(a.Facts["us-gaap"]) != 1 {
		t.Errorf("%v is kept", a.Facts)
	}
}
