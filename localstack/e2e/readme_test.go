package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?s)<!-- test: ([a-z]+) -->\n```sh\n(.*?)```")

// The commands of the README work as they are written there.
func TestTheReadmeWorksAsWritten(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"openssl", "curl", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the README's commands need %s", tool)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	scripts := make(map[string]string)
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		scripts[block[1]] += block[2]
	}
	for name, last := range map[string]*regexp.Regexp{
		"signed": regexp.MustCompile(`^\{"code":"0","msg":"success","data":\[`),
		"walk":   regexp.MustCompile(`^\{"code":"0","msg":"success","data":\[\{.*"coin":`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if scripts[name] == "" {
				t.Fatalf("the README has no block %q", name)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-euc", scripts[name])
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "QUOTARY_DATA="+world.State.DataDir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if answer := lines[len(lines)-1]; !last.MatchString(answer) {
				t.Errorf("the last answer is %.300s\n(all of it: %s)", answer, out)
			}
		})
	}
}
