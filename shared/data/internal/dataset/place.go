package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/store"
)

// PlaceRow is the row of an entry of a drop: at the time at which its file was put, with
// an id of its file and line.
func PlaceRow(subject string, at drop.Place, body []byte) store.Row {
	file := sha256.Sum256([]byte(at.File))
	return store.Row{
		Subject: subject, Time: time.UnixMilli(at.Time).UTC(),
		ID: hex.EncodeToString(file[:8]) + "#" + strconv.FormatInt(at.Line, 10), Body: body,
	}
}
