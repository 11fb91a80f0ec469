package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/store"
)

// quarantineMost is how many rows an hour a pipeline quarantines. More are no
// accident of single rows, and it stops.
const quarantineMost = 100

var errQuarantineFull = fmt.Errorf("%d rows were quarantined within an hour: something is wrong with all of them", quarantineMost)

// Quarantine keeps the rows that the stores call invalid, for a person to look at:
// the objects quarantine/<domain>/<yyyy-mm-dd>/<dataset>-<hash>.json, each a
// [QuarantinedRow]. They lie beside the views because a row may be invalid for
// being too large for the tables.
type Quarantine struct {
	Objects store.Objects
	Bucket  string
}

// QuarantinedRow is a row that was not stored.
type QuarantinedRow struct {
	Dataset string    `json:"dataset"`
	Key     string    `json:"key"`
	Reason  string    `json:"reason"`
	Time    time.Time `json:"time"` // when it was quarantined
	Body    string    `json:"body"`
}

// quarantinedRow describes a row of a log, but for the reason.
func quarantinedRow(dataset string, r *store.Row) QuarantinedRow {
	return QuarantinedRow{Dataset: dataset, Key: fmt.Sprintf("%s %d %s", r.Subject, r.Time.UnixMilli(), r.ID), Body: string(r.Body)}
}

// put keeps a row. The same row has one object a day, however often it comes.
func (q Quarantine) put(ctx context.Context, domain string, row QuarantinedRow) error {
	if q.Objects == nil {
		return errors.New("there is no bucket for quarantined rows")
	}
	ctx, cancel := context.WithTimeout(ctx, quarantineTimeout)
	defer cancel()
	if !utf8.ValidString(row.Body) {
		row.Body = fmt.Sprintf("%+q", row.Body)
	}
	body, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("encode a quarantined row: %w", err)
	}
	sum := sha256.Sum256([]byte(row.Key + "\x00" + row.Body))
	key := fmt.Sprintf("quarantine/%s/%s/%s-%s.json", domain, row.Time.UTC().Format(time.DateOnly), row.Dataset, hex.EncodeToString(sum[:8]))
	_, err = q.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &q.Bucket, Key: &key, Body: bytes.NewReader(body), ContentType: aws.String("application/json")})
	if err != nil {
		return fmt.Errorf("quarantine a row: %w", err)
	}
	return nil
}

const quarantineTimeout = 10 * time.Second

// quarantine keeps a row that cannot be stored and counts it, so that the pipeline
// can go on without it. The error is to be retried: while too many rows have been
// quarantined, nothing goes on.
func (p *Pipeline[B]) quarantine(ctx context.Context, row QuarantinedRow) error {
	now := p.Now()
	p.quarantining.Lock()
	defer p.quarantining.Unlock()
	for key, at := range p.quarantined {
		if now.Sub(at) >= time.Hour {
			delete(p.quarantined, key)
		}
	}
	key := row.Dataset + " " + row.Key
	_, known := p.quarantined[key]
	if !known && len(p.quarantined) >= quarantineMost {
		return errQuarantineFull
	}
	row.Time = now
	if err := p.Stores.Quarantine.put(ctx, p.Domain, row); err != nil {
		return err
	}
	if known {
		return nil
	}
	if p.quarantined == nil {
		p.quarantined = map[string]time.Time{}
	}
	p.quarantined[key] = now
	p.Stats.Quarantined.Add(1)
	p.Logger.Warn("quarantined a row", "dataset", row.Dataset, "key", row.Key, "reason", row.Reason)
	return nil
}
