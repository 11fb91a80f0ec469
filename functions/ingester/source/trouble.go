package source

import (
	"context"
	"log/slog"

	"quotary/shared/text/visible"
)

// maxTrouble bounds what is kept of an error, in bytes, and maxLogged each text that is logged.
const (
	maxTrouble = 300
	maxLogged  = 500
)

// Watched returns a log in whose warnings stats finds the last error of its source. Of each text
// that is logged it writes an excerpt, as it may quote an upstream.
func Watched(log *slog.Logger, stats *Stats) *slog.Logger {
	return slog.New(watcher{log.Handler(), stats})
}

// watcher keeps the errors of the records that it passes on, with excerpts of their texts.
type watcher struct {
	slog.Handler
	stats *Stats
}

// Enabled lets warnings pass that nobody writes.
func (w watcher) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || w.Handler.Enabled(ctx, level)
}

// Handle keeps the error of a warning.
func (w watcher) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key != "error" {
				return true
			}
			text := visible.Excerpt(a.Value.String(), maxTrouble)
			w.stats.trouble.Store(&text)
			return false
		})
	}
	if !w.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	written := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if kind := a.Value.Kind(); kind == slog.KindString || kind == slog.KindAny {
			a.Value = slog.StringValue(visible.Excerpt(a.Value.String(), maxLogged))
		}
		written.AddAttrs(a)
		return true
	})
	return w.Handler.Handle(ctx, written)
}

// WithAttrs implements [slog.Handler].
func (w watcher) WithAttrs(attrs []slog.Attr) slog.Handler {
	return watcher{w.Handler.WithAttrs(attrs), w.stats}
}

// WithGroup implements [slog.Handler].
func (w watcher) WithGroup(name string) slog.Handler {
	return watcher{w.Handler.WithGroup(name), w.stats}
}

// Trouble is the last error that a [Watched] log has had, "" before the first.
func (s *Stats) Trouble() string {
	if text := s.trouble.Load(); text != nil {
		return *text
	}
	return ""
}
