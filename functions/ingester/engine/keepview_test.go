package engine

import (
	"testing"
	"time"

	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// lastWord keeps the last word.
type lastWord struct{ word string }

func (l *lastWord) Restore(word string) error { l.word = word; return nil }

func (l *lastWord) Apply(w *words, _ time.Time) bool {
	for _, word := range w.list {
		l.word = word
	}
	return len(w.list) > 0
}

func (l *lastWord) View(time.Time) string { return l.word }

// TestCheckpointsWaitForAViewThatIsPublishedRarely where that was said.
func TestCheckpointsWaitForAViewThatIsPublishedRarely(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{false, true} {
		p := KeepView[*words](store.ViewType[string]{Name: "last"}, func() *lastWord { return new(lastWord) }).Every(time.Minute)
		if held {
			p = p.Held()
		}
		start := time.Unix(1_700_000_000, 0)
		for _, step := range []struct {
			after  time.Duration
			words  []string
			settle bool
			want   string // what is published
			waits  bool   // where held
		}{
			{0, []string{"ant"}, false, `"ant"`, false},
			{time.Second, nil, false, "", false},
			{2 * time.Second, []string{"bee"}, false, "", true},
			{time.Minute, []string{"cat"}, false, `"cat"`, false},
			{61 * time.Second, []string{"dog"}, false, "", true},
			{62 * time.Second, nil, true, `"dog"`, false},
		} {
			now := start.Add(step.after)
			must.Do(t, p.Apply(&words{step.words}, nil, now))
			c := p.Changes(now, step.settle)
			got := ""
			if len(c.Views) > 0 {
				got = string(c.Views[0].Body)
			}
			if got != step.want || c.Held != (held && step.waits) {
				t.Errorf("after %s it publishes %s, and checkpoints wait: %t", step.after, got, c.Held)
			}
		}
	}
}
