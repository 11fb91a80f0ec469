package venue

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pierrec/lz4/v4"

	"quotary/shared/testing/must"
)

// TestTheVenuePublishesEachHourThatHasEnded just as its node wrote it, also one that could not be published at
// first, and again what may have been missed when it was opened.
func TestTheVenuePublishesEachHourThatHasEnded(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	files, fails := map[string][]byte{}, 3
	publish := func(key string, body []byte) error {
		if fails--; fails >= 0 {
			return errors.New("the bucket is away")
		}
		files[key] = body
		return nil
	}
	c := Config{Seed: 5, Traders: 40, NodeDir: dir, StateDir: state, HistoryDays: 1, Clock: still(noon), Publish: publish}
	v := must.Get(Open(c))(t)
	must.Do(t, v.Skip(noon.Add(3*time.Hour+time.Minute)))
	must.Do(t, v.Close())
	check := func() {
		t.Helper()
		if len(files) != 2*(24+3) {
			t.Errorf("%d files are published", len(files))
		}
		for key, body := range files {
			got := must.Get(io.ReadAll(lz4.NewReader(bytes.NewReader(body))))(t)
			want, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(key, ".lz4")))
			if err != nil && (!strings.HasPrefix(key, "misc") || !errors.Is(err, os.ErrNotExist)) {
				t.Error(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not as the node wrote it", key)
			}
		}
		if _, ok := files["node_fills_by_block/hourly/"+noon.Format("20060102")+"/14.lz4"]; !ok {
			t.Errorf("the last hour is not there")
		}
	}
	check()
	clear(files)
	c.Clock = still(noon.Add(3*time.Hour + 2*time.Minute))
	v = must.Get(Open(c))(t)
	must.Do(t, v.Advance(noon.Add(3*time.Hour+3*time.Minute)))
	must.Do(t, v.Close())
	if len(files) != 2*24 {
		t.Errorf("%d files are published again", len(files))
	}
}
