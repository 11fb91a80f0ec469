package drop

import (
	"encoding/json"
	"fmt"
)

// Report is what became of a drop.
type Report struct {
	Dataset string `json:"dataset"`
	File    string `json:"file"`
	ETag    string `json:"etag"`  // of the object that was taken
	Lines   int64  `json:"lines"` // that are not blank
	Taken   int64  `json:"taken"`
	Refused int64  `json:"refused"`

	// SameAs is the file of the dataset that was taken before with the same content: no line
	// of this one was read.
	SameAs string `json:"same_as,omitempty"`

	// Faults are the first lines that were refused, 10,000 at most.
	Faults []Fault `json:"faults"`

	// Stopped is why the file was not read to its end; what stood before was taken.
	Stopped string `json:"stopped,omitempty"`
}

// Fault is a line that was refused.
type Fault struct {
	Line   int64  `json:"line"` // from 1
	Reason string `json:"reason"`
}

// mostFaults and mostReason bound a report.
const (
	mostFaults = 10_000
	mostReason = 300 // bytes
)

// Took counts a line.
func (r *Report) Took() {
	r.Lines++
	r.Taken++
}

// Refuse counts a line that is not accepted.
func (r *Report) Refuse(line int64, reason error) {
	r.Lines++
	r.Refused++
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults, Fault{line, fmt.Sprintf("%.*s", mostReason, reason.Error())})
	}
}

// Encode writes the report as people read it.
func (r *Report) Encode() []byte {
	if r.Faults == nil {
		r.Faults = []Fault{}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic(err) // texts and numbers encode
	}
	return append(text, '\n')
}
