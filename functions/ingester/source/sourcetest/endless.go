package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quotary/shared/upstream"
)

// endlessBytes is how much an [Endless] answer has: far more than what is on its way while an
// answer is refused.
const endlessBytes = 64 << 20

// RefusesEndless holds who asks an upstream to refusing an answer that begins rightly and has
// many millions of rows behind it, each of a few bytes, or one row without end, without reading
// it to its end: the one for its rows, and the other for its bytes. The error names the bounds.
func RefusesEndless(t *testing.T, bounds upstream.Bounds, begin string, ask func(url string) error) {
	t.Helper()
	refusesEndless(t, func(string) string { return begin }, fmt.Sprintf("more than %d rows", bounds.Rows), fmt.Sprintf("larger than %d bytes", bounds.Bytes), ask)
}

// refusesEndless is [RefusesEndless] for answers that begin as begin says of their path.
func refusesEndless(t *testing.T, begin func(path string) string, rows, bytes string, ask func(url string) error) {
	t.Helper()
	refuses(t, begin, strings.Repeat("{},", 1<<14), rows, ask)
	refuses(t, func(path string) string { return begin(path) + `"` }, strings.Repeat("x", 1<<15), bytes, ask)
}

// refuses holds who asks to refusing an answer without end for a reason.
func refuses(t *testing.T, begin func(path string) string, chunk, reason string, ask func(url string) error) {
	t.Helper()
	var written, answers atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.Add(1)
		_, err := io.WriteString(w, begin(r.URL.Path))
		for err == nil && written.Load() < endlessBytes {
			var n int
			n, err = io.WriteString(w, chunk)
			written.Add(int64(n))
		}
	}))
	t.Cleanup(server.Close)
	err := ask(server.URL)
	if !errors.Is(err, upstream.ErrBounds) || !strings.Contains(err.Error(), reason) {
		t.Errorf("%v, want that it is beyond its bounds of %s", err, reason)
	}
	if answers.Load() != 1 || written.Load() >= endlessBytes {
		t.Errorf("it was asked %d times, and %d bytes were written", answers.Load(), written.Load())
	}
}

// Logged follows a source until the first error that it logs, and returns that.
func Logged(ctx context.Context, follow func(context.Context, *slog.Logger)) (why error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	follow(ctx, slog.New(failures(func(text string) {
		once.Do(func() {
			if why = errors.New(text); strings.Contains(text, upstream.ErrBounds.Error()) {
				why = fmt.Errorf("%w, as is logged: %s", upstream.ErrBounds, text)
			}
		})
		cancel()
	})))
	return why
}

// failures is a handler that takes the errors that are logged.
type failures func(string)

// Enabled is true.
func (failures) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs is the same handler.
func (f failures) WithAttrs([]slog.Attr) slog.Handler { return f }

// WithGroup is the same handler.
func (f failures) WithGroup(string) slog.Handler { return f }

// Handle takes the error of a record.
func (f failures) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			f(a.Value.String())
		}
		return true
	})
	return nil
}
