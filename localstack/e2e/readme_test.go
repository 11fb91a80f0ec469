package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quotary/localstack/stack"
	"quotary/shared/testing/must"
)

// shellBlock is commands in a document that are to be run, and by which name.
var shellBlock = regexp.MustCompile("(?s)<!-- test: ([a-z]+) -->\n```sh\n(.*?)```")

// onAWS stands in for the command line of AWS with what the guide asks of it.
const onAWS = `ENV=dev
eval "$(bin/localstack env)" && OURS=$BASE && cd "$SCRATCH"
aws() {
  case "$1 $2" in
  "cloudformation describe-stacks") echo "$OURS";;
  "lambda invoke") [ "$4" = quotary-dev-admin ]; curl -s "$LAMBDA/2015-03-31/functions/admin/invocations" -d "$8" > "$9";;
  *) return 1;;
  esac
}
`

// The commands of the README and of the guides work as they are written there, in a shell
// that nobody has told which stack runs.
func TestDocumentsWorkAsWritten(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"openssl", "curl", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands of documents need %s", tool)
		}
	}
	finds := programsThatFind(t, world.State.DataDir)
	fills := `(?m)^\{"code":"0","msg":"success","data":\[\{.*"coin":.*$`
	for _, doc := range []struct {
		path, block string
		before      string   // the commands
		prints      []string // in any order
	}{
		{"README.md", "signed", "", []string{`(?m)^\{"code":"0","msg":"success","data":\[.*\}$`}},
		{"README.md", "walk", "", []string{fills, `(?m)^\{"coin_key":"hyperliquid".*"cn_name":"示例".*\}$`}},
		{"README.md", "follow", "", []string{`(?m)^\{"channel":"subscriptionResponse".*\n\{"channel":"l2Book".*\n\{"channel":"l2Book".*\n`}},
		{"docs/feeds.md", "fills", "", []string{`(?m)^\{"type":"subscribe","cursor":"[^"]+"\}$`}},
		{"docs/operate/deploy.md", "invite", onAWS, []string{`(?m)^\{"code":"0","msg":"success","data":\[\{.*"coin":.*\n`}},
	} {
		t.Run(doc.path+" "+doc.block, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "sh", "-euc", doc.before+script(t, doc.path, doc.block))
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "QUOTARY_DATA=", "QUOTARY_PROGRAMS="+finds, "SCRATCH="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range doc.prints {
				if !regexp.MustCompile(want).Match(out) {
					t.Errorf("%s is not in what was printed:\n%.3000s", want, bytes.TrimSpace(out))
				}
			}
		})
	}
}

// script is the commands of a block, which may be in several parts.
func script(t *testing.T, path, block string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(root, path)))(t)
	var all strings.Builder
	for _, part := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		if part[1] == block {
			all.WriteString(part[2])
		}
	}
	if all.Len() == 0 {
		t.Fatalf("%s has no block %q", path, block)
	}
	return all.String()
}

// programsThatFind is a folder of the programs beside which the stack on data is the one
// that started last.
func programsThatFind(t *testing.T, data string) string {
	t.Helper()
	folder := t.TempDir()
	for _, program := range []string{"localstack", "ingester"} {
		must.Do(t, os.Symlink(filepath.Join(programs, program), filepath.Join(folder, program)))
	}
	must.Do(t, stack.Remember(folder, data))
	return folder
}
