package stack

import (
	"os"
	"path/filepath"
	"testing"

	"quotary/shared/testing/must"
)

func TestCommandsFindTheStackThatStartedLast(t *testing.T) {
	t.Parallel()
	runs := func(url string) (data string) {
		data = t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(data, StateFile), []byte(`{"base_url":"`+url+`"}`), 0o600))
		return data
	}
	for name, test := range map[string]struct{ last, otherwise, want string }{
		"it runs":              {runs("last"), runs("other"), "last"},
		"it has ended":         {t.TempDir(), runs("other"), "other"},
		"none was remembered":  {"", runs("other"), "other"},
		"neither of them runs": {t.TempDir(), t.TempDir(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs := t.TempDir()
			if test.last != "" {
				must.Do(t, Remember(programs, test.last))
			}
			state, err := ReadLast(programs, test.otherwise)
			if state.BaseURL != test.want || (err != nil) != (test.want == "") {
				t.Errorf("found %q, %v; want %q", state.BaseURL, err, test.want)
			}
		})
	}
}
