package main

import (
	"os"
	"regexp"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/testing/must"
)

// asked is a question of the guide: where it is asked, and its body.
var asked = regexp.MustCompile("(?s)`POST (\\S+)`\n\n```json\n(.*?)```")

func TestTheQuestionsOfTheGuideAreAnswered(t *testing.T) {
	t.Parallel()
	w := published(t, 60)
	w.mark(t)
	guide := must.Get(os.ReadFile("../../../docs/questions.md"))(t)
	list := asked.FindAllStringSubmatch(string(guide), -1)
	if len(list) != 10 {
		t.Errorf("the guide has %d questions, want 10", len(list))
	}
	for _, q := range list {
		for _, row := range apitest.Data[page](t, w.post(t, q[1], q[2])).List {
			if row["address"] == nil || len(row) < 2 {
				t.Errorf("%s answers a row %v", q[2], row)
			}
		}
	}
}
