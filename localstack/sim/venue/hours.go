package venue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/pierrec/lz4/v4"
)

// hours publishes what the node has written of each hour that has ended, as the venue does of its own
// nodes:
//
//	<stream>/hourly/<YYYYMMDD>/<H>.lz4
//
// of fills and misc events. An hour is that in which the node wrote a block.
type hours struct {
	dir     string
	publish func(key string, body []byte) error // nil for nobody
	log     *slog.Logger

	at     time.Time   // the hour that is being written; zero before the first block
	ended  []time.Time // hours that are to be published
	failed bool        // the last try, which was logged
}

// publishedStreams are those of which the venue publishes hours.
var publishedStreams = [...]stream{streamFills, streamMisc}

// again has the last day before a time published again.
func (h *hours) again(from time.Time) {
	if h.publish == nil || from.Unix() <= 0 {
		return
	}
	h.at = from.UTC().Truncate(time.Hour).Add(-24 * time.Hour)
}

// written notes that the node has written at a time, and publishes the hours that have ended before.
func (h *hours) written(at time.Time) {
	if h.publish == nil {
		return
	}
	hour := at.UTC().Truncate(time.Hour)
	if h.at.IsZero() {
		h.at = hour
	}
	for ; h.at.Before(hour); h.at = h.at.Add(time.Hour) {
		h.ended = append(h.ended, h.at)
	}
	for len(h.ended) > 0 {
		if err := h.put(h.ended[0]); err != nil {
			if !h.failed {
				h.log.Warn("cannot publish an hour; trying again", "hour", h.ended[0].Format(time.RFC3339), "error", err.Error())
			}
			h.failed = true
			return
		}
		h.ended, h.failed = h.ended[1:], false
	}
}

// put publishes an hour. One in which the node wrote nothing is not there.
func (h *hours) put(hour time.Time) error {
	var bodies [len(publishedStreams)][]byte
	for i, s := range publishedStreams {
		var err error
		if bodies[i], err = h.pack(s, hour); err != nil {
			return err
		}
	}
	if bodies[0] == nil {
		return nil
	}
	for i, s := range publishedStreams {
		key := hourName(s, hour) + ".lz4"
		if err := h.publish(key, bodies[i]); err != nil {
			return fmt.Errorf("publish %s: %w", key, err)
		}
	}
	return nil
}

// pack is the file of an hour as a frame; nil where the node wrote no fills.
func (h *hours) pack(s stream, hour time.Time) ([]byte, error) {
	var body bytes.Buffer
	w := lz4.NewWriter(&body)
	file, err := os.Open(hourPath(h.dir, s, hour))
	if errors.Is(err, fs.ErrNotExist) {
		if s == streamFills {
			return nil, nil
		}
		err := w.Close() // a frame of nothing
		return body.Bytes(), err
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := io.Copy(w, file); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// hourName is what a stream's file of an hour is called, with slashes.
func hourName(s stream, at time.Time) string {
	return fmt.Sprintf("%s/hourly/%s/%d", streamDirs[s], at.Format("20060102"), at.Hour())
}

// hourPath is where the node writes a stream in an hour.
func hourPath(dir string, s stream, at time.Time) string {
	return filepath.Join(dir, filepath.FromSlash(hourName(s, at)))
}
