// Package columns has the columns that every archived dataset has. A dataset embeds
// [Row] in a struct with the columns of its own, each of which has its name and type
// in a tag of the package parquet-go. What only reads the tables needs no more of the
// archive than these structs.
package columns

import (
	"time"

	"quotary/shared/store"
)

// Row is everything that is stored of a row of a log: whoever reads these columns of
// an archived file has the rows as they were.
type Row struct {
	Subject string `parquet:"subject,dict"`
	Time    int64  `parquet:"time,timestamp(millisecond)"` // UTC
	ID      string `parquet:"id"`                          // unique within (subject, time)
	Seq     int64  `parquet:"seq"`                         // order within one millisecond where the source knows it, else 0

	// The subjects under which the row was found in the indexes A to D; null without.
	IndexA *string `parquet:"index_a,optional"`
	IndexB *string `parquet:"index_b,optional"`
	IndexC *string `parquet:"index_c,optional"`
	IndexD *string `parquet:"index_d,optional"`

	Body string `parquet:"body"` // JSON, as the dataset describes it
}

// FromRow returns the columns of a row.
func FromRow(r store.Row) Row {
	return Row{
		Subject: r.Subject, Time: r.Time.UnixMilli(), ID: r.ID, Seq: r.Seq,
		IndexA: optional(r.Index[0]), IndexB: optional(r.Index[1]), IndexC: optional(r.Index[2]), IndexD: optional(r.Index[3]),
		Body: string(r.Body),
	}
}

// Stored returns the row, which never expires.
func (c *Row) Stored() store.Row {
	r := store.Row{Subject: c.Subject, Time: time.UnixMilli(c.Time).UTC(), ID: c.ID, Seq: c.Seq, Body: []byte(c.Body)}
	for i, subject := range [...]*string{c.IndexA, c.IndexB, c.IndexC, c.IndexD} {
		if subject != nil {
			r.Index[i] = *subject
		}
	}
	return r
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
