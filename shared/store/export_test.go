package store

import (
	"bytes"
	"time"
)

// SetPatience lets a test decide how long Get waits for S3 while it could serve
// an outdated version: on a busy machine even a local S3 may take its time.
func (v *View[T]) SetPatience(d time.Duration) { v.patience = d }

// NewViewsOf returns views of at most limit bytes.
func NewViewsOf(objects Objects, bucket string, limit int) *Views {
	return newViews(objects, bucket, limit)
}

// Pack and Unpack are what Publish and Fetch do besides S3.
func (v *Views) Pack(body []byte) []byte { return v.zip.EncodeAll(body, nil) }

func (v *Views) Unpack(packed []byte) ([]byte, error) { return v.unpack(bytes.NewReader(packed)) }
