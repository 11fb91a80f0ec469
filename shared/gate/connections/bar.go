package connections

import (
	"context"
	"fmt"
	"time"
)

// BarredFor is how long a key is kept out after a flood.
const BarredFor = time.Minute

func barKey(accessKey string) item { return key("f#"+accessKey, "f") }

// Bar keeps a key out for [BarredFor].
func (s *Store) Bar(ctx context.Context, accessKey string) error {
	it := barKey(accessKey)
	it[attrExpiry] = expiry(s.clock(), BarredFor)
	if _, err := s.write(ctx, s.put(it)); err != nil {
		return fmt.Errorf("keep a key out: %w", err)
	}
	return nil
}

// Barred reports whether a key is kept out.
func (s *Store) Barred(ctx context.Context, accessKey string) (bool, error) {
	im, err := s.get(ctx, barKey(accessKey), false)
	if err != nil {
		return false, fmt.Errorf("read whether a key is kept out: %w", err)
	}
	return im.number(attrExpiry) > s.clock().Unix(), nil
}
