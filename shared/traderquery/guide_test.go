package traderquery_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"quotary/shared/testing/doctable"
	"quotary/shared/traderquery"
)

var update = flag.Bool("update", false, "rewrite the list of tags in the guide")

func TestTheGuideListsEveryTag(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("| Tag | | About | Who fulfils all of |\n|---|---|---|---|\n")
	for _, tag := range traderquery.Tags {
		fmt.Fprintf(&text, "| %s | %s | %s | `%s` |\n", tag.En, tag.Zh, tag.Group, tag.Means)
	}
	text.WriteString("\n")
	doctable.Check(t, "../../docs/traders.md", "tags", text.String(), *update)
}
