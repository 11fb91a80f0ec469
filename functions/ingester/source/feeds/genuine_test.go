package feeds

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/testing/must"
)

// TestFeedsOfGenuineSize reads the same made-up stories in each format, written in the ways
// in which its publishers write them. What is to come out is in a file of its own.
func TestFeedsOfGenuineSize(t *testing.T) {
	t.Parallel()
	var want []Item
	must.Do(t, json.Unmarshal(valid(os.ReadFile("testdata/genuine.golden.json")), &want))
	for _, format := range []string{"rss", "rdf", "atom", "json"} {
		doc, err := Parse(valid(os.ReadFile("testdata/genuine."+format)), "application/octet-stream", base)
		if err != nil || doc.Malformed != 0 || doc.Image != "https://img.example/logo.png" {
			t.Errorf("%s: %v, %d malformed, picture %s", format, err, doc.Malformed, doc.Image)
		}
		if diff := cmp.Diff(want, doc.Items); diff != "" {
			t.Errorf("%s (-written +read):\n%s", format, diff)
		}
	}
}
