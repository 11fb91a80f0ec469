package sec

import (
	"encoding/json"
	"testing"
)

// Companies file hundreds of concepts, of which nothing is kept.
func TestConceptsThatAreNotReadAreNotKept(t *testing.T) {
	t.Parallel()
	var kept concepts
	if err := json.Unmarshal([]byte(`{"Assets":{"units":{}},"LongTermDebt":{"units":{}},"Revenues":{"units":{}}}`), &kept); err != nil || len(kept) != 1 || kept["LongTermDebt"] == nil {
		t.Errorf("%s, %v", kept, err)
	}
}
