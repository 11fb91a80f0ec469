package trading

import "time"

// Config says what exchange to simulate. The zero value has seed 1 and began to trade ten
// days ago.
type Config struct {
	Seed  uint64
	Since time.Time        // when trading began; the day's opening in UTC counts
	Clock func() time.Time // default time.Now
}

// WithDefaults returns the config with what was left out.
func (c Config) WithDefaults() Config {
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Since.IsZero() {
		c.Since = c.Clock().Add(-10 * 24 * time.Hour)
	}
	return c
}
