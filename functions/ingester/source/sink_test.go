package source

import (
	"errors"
	"fmt"
	"testing"
)

func TestAnErrorOfTheSinkIsKnownAmongThoseOfTheUpstream(t *testing.T) {
	t.Parallel()
	cause := errors.New("full")
	for _, c := range []struct {
		err, want error
	}{
		{nil, nil},
		{OfSink(nil), nil},
		{cause, nil},
		{OfSink(cause), cause},
		{fmt.Errorf("page 2: %w", OfSink(cause)), cause},
	} {
		if got := SinkError(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
	if !errors.Is(OfSink(cause), cause) {
		t.Error("the cause is lost")
	}
}
