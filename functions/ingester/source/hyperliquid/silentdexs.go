package hyperliquid

import (
	"sync"
	"time"
)

// dexSilentFor is for how long a builder's dex is not asked after it did not answer.
const dexSilentFor = 5 * time.Minute

// silentDexs are the dexs that did not answer. Strangers make dexs, and one that is waited for
// costs all tries of a request: so it is left in peace for a while. The zero value has none, and
// may be used by goroutines.
type silentDexs struct {
	mu    sync.Mutex
	until map[string]time.Time // when they may be asked again
}

// has reports whether a dex is not asked now.
func (s *silentDexs) has(dex string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.until[dex])
}

// note has a dex that did not answer left in peace.
func (s *silentDexs) note(dex string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = map[string]time.Time{}
	}
	s.until[dex] = now.Add(dexSilentFor)
}
