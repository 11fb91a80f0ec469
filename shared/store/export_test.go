package store

import "time"

// SetPatience lets a test decide how long Get waits for S3 while it could serve
// an outdated version: on a busy machine even a local S3 may take its time.
func (v *View[T]) SetPatience(d time.Duration) { v.patience = d }
