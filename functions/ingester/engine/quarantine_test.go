package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/internal/testenv"
	"quotary/shared/store"
)

// kept notes what is put among the quarantined rows.
type kept struct {
	store.Objects
	mu   sync.Mutex
	rows map[string]QuarantinedRow // by object
}

func (k *kept) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	var row QuarantinedRow
	if err := json.Unmarshal(body, &row); err != nil {
		return nil, err
	}
	in.Body = strings.NewReader(string(body))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		k.rows = map[string]QuarantinedRow{}
	}
	k.rows[*in.Key] = row
	return k.Objects.PutObject(ctx, in, options...)
}

// TestARowThatIsInvalidIsQuarantinedAndTheRestGoesOn: it is too large, in the log
// and in the series.
func TestARowThatIsInvalidIsQuarantinedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{Objects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	large := "zebra" + strings.Repeat("-", 900) // as a key it may be, but not so often in a row
	list := []string{"ant", "bee"}
	for i := range 500 {
		list = append(list, fmt.Sprint(large, i))
	}
	long := "yak" + strings.Repeat("-", 2000)
	list = append(list, long, "ape")
	p := newPipeline(stores, say("source", list...))
	stop := run(t, p)
	testenv.Until(t, "the last word is taken", func() bool { return p.Stats.Events.Load() == int64(len(list)) })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, stores, "vocabulary", "a") + stored(t, stores, "vocabulary", "b"); got != "ant,apebee" {
		t.Errorf("stored are %s", got)
	}
	reasons := map[string]string{}
	for key, row := range quarantine.rows {
		if !strings.HasPrefix(key, "quarantine/small/"+row.Time.UTC().Format(time.DateOnly)+"/"+row.Dataset+"-") || !strings.HasSuffix(key, ".json") || row.Body == "" {
			t.Errorf("%s holds %+v", key, row)
		}
		reasons[row.Dataset] = row.Reason
	}
	if n := p.Stats.Quarantined.Load(); n != 2 || len(reasons) != 2 || !strings.HasPrefix(reasons["vocabulary"], "the row has ") || !strings.HasPrefix(reasons["word"], `the key "sk" has `) {
		t.Errorf("%d rows were quarantined: %v", n, reasons)
	}
	body, err := stores.Series.Checkpoint(t.Context(), Checkpoint("small", "source", ""))
	if err != nil || string(body) != fmt.Sprint(len(list)) {
		t.Errorf("the checkpoint is %s (%v)", body, err)
	}
}

// TestTooManyInvalidRowsStopThePipeline until the hour has passed.
func TestTooManyInvalidRowsStopThePipeline(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range quarantineMost + 20 {
		list = append(list, fmt.Sprint(i, strings.Repeat("-", 2000)))
	}
	stores := newStores(t)
	p := newPipeline(stores, say("source", append(list, "ant")...))
	var hours atomic.Int64
	p.Now = func() time.Time { return wordTime.Add(time.Duration(hours.Load()) * time.Hour) }
	stop := run(t, p)
	testenv.Until(t, "it stops", func() bool {
		return p.Stats.Quarantined.Load() == quarantineMost && len(p.trouble.before(p.Now())) > 0
	})
	if n := p.Stats.Events.Load(); n > quarantineMost {
		t.Errorf("it went on to %d words", n)
	}
	hours.Add(1)
	testenv.Until(t, "it goes on", func() bool { return p.Stats.Events.Load() == int64(len(list)+1) })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if n := p.Stats.Quarantined.Load(); n != int64(len(list)) {
		t.Errorf("%d rows are quarantined, want %d", n, len(list))
	}
	if got := stored(t, stores, "vocabulary", "a"); got != "ant" {
		t.Errorf("stored is %q", got)
	}
}
