package keys

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknown means that no such access key exists, or that the sub-key is
	// not one of the distributor's.
	ErrUnknown = errors.New("unknown access key")
	// ErrUnknownLevel means that the distributor has no such level.
	ErrUnknownLevel = errors.New("unknown level")
	// ErrUnknownInvite means that no invite has the id.
	ErrUnknownInvite = errors.New("unknown invite")
	// ErrBusy means that other changes of the same distributor came first
	// every time: nothing was changed, and trying again later is right.
	ErrBusy = errors.New("too many changes at the same moment")
)

// InvalidError is input that cannot be accepted.
type InvalidError struct {
	Message string // one sentence for the caller, naming the parameter
}

// Error returns the sentence.
func (e *InvalidError) Error() string { return e.Message }

func invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}
