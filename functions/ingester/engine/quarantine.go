package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/objects"
	"quotary/shared/store"
)

// quarantineMost is how many rows an hour a pipeline quarantines of what it writes
// and reads, and as many again of what catching up scans. More are no accident of
// single rows: what meets the next one waits until the hour has passed.
const quarantineMost = 100

var errQuarantineFull = fmt.Errorf("%d rows were quarantined within an hour: something is wrong with all of them", quarantineMost)

// Quarantine keeps the rows that the stores call invalid, or that cannot be read any
// more, for a person to look at: the objects
//
//	quarantine/<domain>/<yyyy-mm-dd>/<dataset>-<hash>.json
//	quarantine/<domain>/scanned/<dataset>-<hash>.json
//
// each a [QuarantinedRow], the second of what was scanned to catch up or to archive,
// which every scan meets again. The hash is that of the key: a row that was scanned has
// one object, which counts when it is made; any other has one a day, and is kept once
// an hour at most. They lie beside the views because a row may be invalid for being too
// large for the tables. A pipeline that begins counts those of the last hour, so that a
// restart does not let 100 more through.
type Quarantine struct {
	Objects QuarantineObjects
	Bucket  string
}

// QuarantineObjects is the part of the S3 client that Quarantine needs.
type QuarantineObjects interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	s3.ListObjectsV2APIClient
}

// QuarantinedRow is everything of a row that was left out.
type QuarantinedRow struct {
	Dataset string `json:"dataset"`

	// Key is a log row's subject, time in ms and ID, a series row's key, interval
	// and time in ms, or the name of a view. A part that is no plain text is quoted as
	// Go does it.
	Key string `json:"key"`

	Reason string    `json:"reason"`
	Time   time.Time `json:"time"` // when it was quarantined

	Index []string `json:"index,omitempty"` // of a log row: its subjects in the indexes A to D, written as in Key
	Seq   int64    `json:"seq,omitempty"`   // of a log row

	Body       string `json:"body,omitempty"`
	BodyBase64 []byte `json:"bodyBase64,omitempty"` // in the place of Body, if that is not UTF-8
	Extra      []byte `json:"extra,omitempty"`      // of a series row, in base64
	Item       string `json:"item,omitempty"`       // of a row that the store cannot read: what it holds
}

// quarantinedLogRow describes a row of a log, but for the reason.
func quarantinedLogRow(dataset string, r *store.Row) QuarantinedRow {
	q := QuarantinedRow{Dataset: dataset, Key: keyText(r.Subject, r.Time, r.ID), Seq: r.Seq}
	if r.Index != [len(r.Index)]string{} {
		for _, subject := range r.Index {
			q.Index = append(q.Index, keyPart(subject))
		}
	}
	return q.withBody(r.Body)
}

// quarantinedSeriesRow describes a row of a series, but for the reason.
func quarantinedSeriesRow(at store.SeriesKey, p *store.Point) QuarantinedRow {
	q := QuarantinedRow{Dataset: at.Name, Key: keyText(at.Key, at.Interval, p.Time), Extra: p.Extra}
	return q.withBody(p.Body)
}

func (q QuarantinedRow) withBody(body []byte) QuarantinedRow {
	if utf8.Valid(body) {
		q.Body = string(body)
	} else {
		q.BodyBase64 = body
	}
	return q
}

func keyText(parts ...any) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		switch part := part.(type) {
		case time.Time:
			texts[i] = strconv.FormatInt(part.UnixMilli(), 10)
		case string:
			texts[i] = keyPart(part)
		}
	}
	return strings.Join(texts, " ")
}

// keyPart returns a text as it is where its end is clear, and quotes any other.
func keyPart(text string) string {
	if quoted := strconv.QuoteToASCII(text); strings.ContainsAny(text, " \"") || quoted != `"`+text+`"` {
		return quoted
	}
	return text
}

const quarantineTimeout = 10 * time.Second

// put keeps a row under the name of its object, without the day. It reports false
// where a scanned row is kept already.
func (q Quarantine) put(ctx context.Context, domain, name string, row QuarantinedRow) (made bool, err error) {
	if q.Objects == nil {
		return false, errors.New("there is no bucket for quarantined rows")
	}
	ctx, cancel := context.WithTimeout(ctx, quarantineTimeout)
	defer cancel()
	body, err := json.Marshal(row)
	if err != nil {
		return false, fmt.Errorf("encode a quarantined row: %w", err)
	}
	in := &s3.PutObjectInput{Bucket: &q.Bucket, Key: aws.String(quarantineDay(domain, row.Time) + name), Body: bytes.NewReader(body), ContentType: aws.String("application/json")}
	if strings.HasPrefix(name, scannedFolder) {
		in.Key, in.IfNoneMatch = aws.String(quarantineFolder(domain)+name), aws.String("*")
	}
	_, err = q.Objects.PutObject(ctx, in)
	if objects.Exists(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("quarantine a row: %w", err)
	}
	return true, nil
}

// quarantineFolder is what all objects of a domain begin with.
func quarantineFolder(domain string) string { return "quarantine/" + domain + "/" }

// quarantineDay is what the objects of a day begin with.
func quarantineDay(domain string, day time.Time) string {
	return quarantineFolder(domain) + day.UTC().Format(time.DateOnly) + "/"
}

// list returns when each row was quarantined since a time, less than a day before
// now, by the name of its object without the day.
func (q Quarantine) list(ctx context.Context, domain string, since, now time.Time) (map[string]time.Time, error) {
	all := map[string]time.Time{}
	today, before, scanned := quarantineDay(domain, now), quarantineDay(domain, since), quarantineFolder(domain)+scannedFolder
	for _, prefix := range slices.Compact([]string{today, before, scanned}) {
		for object, err := range objects.List(ctx, q.Objects, &s3.ListObjectsV2Input{Bucket: &q.Bucket, Prefix: &prefix}, quarantineTimeout) {
			if err != nil {
				return nil, fmt.Errorf("list the quarantined rows: %w", err)
			}
			if at := aws.ToTime(object.LastModified); at.After(since) {
				all[strings.TrimPrefix(aws.ToString(object.Key), strings.TrimSuffix(prefix, scannedFolder))] = at
			}
		}
	}
	return all, nil
}

// quarantineWindow is the rows that were quarantined within the last hour. The zero
// value is none.
type quarantineWindow struct {
	mu   sync.Mutex
	rows map[string]time.Time // by the name of their object
}

// reserve counts a row, unless it is known, which means counted already. The error is
// that there are too many.
func (w *quarantineWindow) reserve(name string, now time.Time) (known bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for row, at := range w.rows {
		if now.Sub(at) >= time.Hour {
			delete(w.rows, row)
		}
	}
	if _, known := w.rows[name]; known {
		return true, nil
	}
	if len(w.rows) >= quarantineMost {
		return false, errQuarantineFull
	}
	w.note(name, now)
	return false, nil
}

func (w *quarantineWindow) note(name string, at time.Time) {
	if w.rows == nil {
		w.rows = map[string]time.Time{}
	}
	w.rows[name] = at
}

// release takes a reservation back.
func (w *quarantineWindow) release(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.rows, name)
}

// scannedFolder has the rows that could not be read when the logs were scanned.
const scannedFolder = "scanned/"

// recallQuarantined counts the rows that were quarantined within the last hour, by
// whichever process was the writer.
func (p *Pipeline[B]) recallQuarantined(ctx context.Context) error {
	if p.Stores.Quarantine.Objects == nil {
		return nil
	}
	return p.retry(ctx, "list the quarantined rows", func() error {
		now := p.Now()
		rows, err := p.Stores.Quarantine.list(ctx, p.Domain, now.Add(-time.Hour), now)
		for name, at := range rows {
			if strings.HasPrefix(name, scannedFolder) {
				p.scanned.note(name, at)
			} else {
				p.quarantined.note(name, at)
			}
		}
		return err
	})
}

// quarantine keeps a row that is left out, in a folder, and counts it within a window.
// It is counted before it is kept, so that no lock is held while it is on its way; one
// that an earlier scan has kept does not count. The error is to be retried: while too
// many rows have been quarantined, nothing that would need another goes on.
func (p *Pipeline[B]) quarantine(ctx context.Context, window *quarantineWindow, folder string, row QuarantinedRow) error {
	row.Time = p.Now()
	sum := sha256.Sum256([]byte(row.Key))
	name := folder + row.Dataset + "-" + hex.EncodeToString(sum[:8]) + ".json"
	if known, err := window.reserve(name, row.Time); known || err != nil {
		return err
	}
	made, err := p.Stores.Quarantine.put(ctx, p.Domain, name, row)
	if err != nil || !made {
		window.release(name)
		return err
	}
	p.Stats.Quarantined.Add(1)
	p.Logger.Warn("quarantined a row", "dataset", row.Dataset, "key", row.Key, "reason", row.Reason)
	return nil
}
