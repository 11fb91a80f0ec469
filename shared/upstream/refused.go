package upstream

import "fmt"

// RefusedError is the answer of a host that refused a request. It holds nothing of the
// answer's text, which would be logged.
type RefusedError struct {
	Status int
	Code   string // by which an exchange calls its reason; "" for none
}

// Error says how the host refused.
func (e *RefusedError) Error() string {
	if e.Code != "" {
		return fmt.Sprintf("status %d, code %.20q", e.Status, e.Code)
	}
	return fmt.Sprintf("status %d", e.Status)
}
