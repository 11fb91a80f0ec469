package catalog

import (
	"slices"
	"testing"
)

func TestAFamilyIsDeclaredOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second declaration was taken")
		}
	}()
	does(PerpMarket, readLog)
}

// One go build puts every program into one folder.
func TestNoTwoProgramsAreBuiltAsOneFile(t *testing.T) {
	t.Parallel()
	names := AllFunctions()
	for _, e := range All() {
		names = append(names, string(e.Family)) // families without a function yet, too
	}
	files := map[string]string{"localstack": "the local stack", ProgramFile(ProgramIngester): ProgramIngester}
	for _, name := range names {
		file := ProgramFile(name)
		if other, taken := files[file]; taken && other != name {
			t.Errorf("%s and %s are both built as bin/%s: give one of them another last word, in family.go and as the name of its folder", name, other, file)
		}
		files[file] = name
	}
}

func TestOnlyProgramsThatCheckSignaturesReadWhetherNoncesAreKept(t *testing.T) {
	t.Parallel()
	for _, p := range Programs() {
		records := slices.Contains(p.Tables[UsageTable], "PutItem")
		if reads := slices.Contains(p.Environment(), EnvReplayProtection); reads != records {
			t.Errorf("%s: reads the setting: %t, records nonces: %t", p.Name, reads, records)
		}
	}
	if admin, _ := ProgramOf(FunctionAdmin); !admin.Secrets || slices.Contains(admin.Environment(), EnvReplayProtection) {
		t.Error("the admin function checks no signature")
	}
}

func TestWhoReadsDocumentsMayNotWriteThem(t *testing.T) {
	t.Parallel()
	reads, keeps := Program{Tables: map[string][]string{}}, Program{Tables: map[string][]string{}}
	readDocuments(&reads)
	keepDocuments(&keeps)
	for _, write := range []string{"DeleteItem", "PutItem", "UpdateItem"} { // which transactions need, too
		if slices.Contains(reads.Tables[DocumentsTable], write) || !slices.Contains(keeps.Tables[DocumentsTable], write) {
			t.Errorf("%s: readers may %v, keepers %v", write, reads.Tables, keeps.Tables)
		}
	}
}

// What a distributor reads of them is counted: see readunits.Shares.
func TestWhoReadsDataForClientsMayCount(t *testing.T) {
	t.Parallel()
	for _, p := range Programs() {
		if p.InvokedBy == Gateway && len(p.Tables[LogTable])+len(p.Tables[SeriesTable]) > 0 && !slices.Contains(p.Tables[UsageTable], "UpdateItem") {
			t.Errorf("%s reads data, and may not count in %s", p.Name, UsageTable)
		}
	}
}
