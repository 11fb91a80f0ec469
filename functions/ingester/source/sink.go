package source

import "errors"

// sinkError is the sink's error, in the place of those of the upstream.
type sinkError struct{ error }

func (e *sinkError) Unwrap() error { return e.error }

// OfSink marks an error as that of the sink: a source ends with it, where it tries an
// upstream that fails again. Nil stays nil.
func OfSink(err error) error {
	if err == nil {
		return nil
	}
	return &sinkError{err}
}

// SinkError returns the error that was marked by [OfSink]; nil without one.
func SinkError(err error) error {
	var ended *sinkError
	if errors.As(err, &ended) {
		return ended.error
	}
	return nil
}
