package lambdahost

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is where a line without an end is broken, in bytes: the longest event
// that CloudWatch Logs takes.
const maxLine = 256 << 10

// lineSink writes whole lines of many writers to one, one at a time.
type lineSink struct {
	mu  sync.Mutex
	out io.Writer
}

// A log that cannot be written must not stop the function that writes it.
func (s *lineSink) write(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(line)
}

// lineWriter collects one stream of a process into lines. os/exec copies each
// stream in one goroutine, and flush is called after that has ended.
type lineWriter struct {
	sink    *lineSink
	partial []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		end = min(end, maxLine-len(w.partial))
		w.partial = append(w.partial, p[:end]...)
		p = p[end:]
		if last := len(w.partial) - 1; w.partial[last] == '\n' || last+1 == maxLine {
			w.flush()
		}
	}
	return n, nil
}

// flush writes what is held, ended like a line.
func (w *lineWriter) flush() {
	if len(w.partial) == 0 {
		return
	}
	if w.partial[len(w.partial)-1] != '\n' {
		w.partial = append(w.partial, '\n')
	}
	w.sink.write(w.partial)
	w.partial = w.partial[:0]
}
