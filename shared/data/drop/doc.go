// Package drop reads drops: files of NDJSON, one JSON object a line, by which an
// operator loads what no upstream gives.
//
// A dataset that drops may load has a [Type]: a Go struct whose tags say what a line
// may hold. The JSON Schema that operators read is generated from it, with the
// comments of its fields (see droptest), and lies beside it as a file.
//
// A drop lies in the bucket as drop/<dataset>/<file>, plain or with gzip as
// <file>.gz. The ingester takes it once, line by line ([Lines]), and writes a
// [Report] beside it as drop/<dataset>/<file>.report.json. A line that is not
// accepted is reported with its number and the reason, and never stops the others.
// An entry with the same id as an older one replaces it: [Place] says which is older.
//
// A content is taken once in a dataset: the same bytes under another name are reported as
// taken before, and none of their lines is read. What other drops have replaced since then
// stays replaced. A name that begins with [Reload] asks for the lines to be taken again.
package drop

import (
	"cmp"
	"strings"
)

// Prefix is what the keys of all drops begin with, in the bucket of views.
const Prefix = "drop/"

// Suffix is what the name of a drop's report ends with, behind the name of the drop.
const Suffix = ".report.json"

// Reload is what the name of a drop begins with that is taken although another one with the
// same content was taken before.
const Reload = "reload-"

// Key is the key of the object of a drop.
func Key(dataset, file string) string { return Prefix + dataset + "/" + file }

// Split returns the dataset and the file of the key of a drop; ok is false for the
// key of anything else, such as a report, a folder, or a file in a folder below.
func Split(key string) (dataset, file string, ok bool) {
	rest, found := strings.CutPrefix(key, Prefix)
	dataset, file, split := strings.Cut(rest, "/")
	ok = found && split && dataset != "" && file != "" && !strings.Contains(file, "/") && !strings.HasSuffix(file, Suffix)
	return dataset, file, ok
}

// Place is where an entry stood. Of two entries with the same id, that of the later
// place holds.
type Place struct {
	Time int64  `json:"time"` // when the file was put into the bucket, ms
	File string `json:"file"` // without its dataset
	Line int64  `json:"line"` // from 1
}

// Compare is below 0 where p is the earlier place.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Time, q.Time), cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line))
}
