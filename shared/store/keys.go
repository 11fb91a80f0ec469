package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"quotary/shared/store/schema"
)

// Names of the attributes. They are short because DynamoDB bills them with
// every item.
const (
	attrPK    = schema.PK
	attrSK    = schema.SK
	attrBody  = "body"
	attrSeq   = "seq"
	attrExtra = "extra"
	attrEpoch = "ep" // of the writer

	attrArrival  = "arr"
	attrExpires  = schema.Expires
	attrRevision = "rev" // of a document
	attrCount    = "n"   // of an owner's documents
)

// maxMillis is the last time that fits the 13 digits of a sort key: the year
// 2286.
const maxMillis = 9999999999999

var errTime = errors.New("time is not between 1970 and 2286")

// partition joins the parts of a partition key with '#'. A part may hold any
// text: '#' and '%' in it are escaped, so that different parts never make the
// same key.
func partition(parts ...string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('#')
		}
		if strings.ContainsAny(p, "#%") {
			p = escaper.Replace(p)
		}
		b.WriteString(p)
	}
	return b.String()
}

// firstPart and lastPart return parts of a partition key, as they were before
// partition escaped them.
func firstPart(key string) string {
	part, _, _ := strings.Cut(key, "#")
	return unescape(part)
}

func lastPart(key string) string { return unescape(key[strings.LastIndexByte(key, '#')+1:]) }

func unescape(part string) string {
	if strings.IndexByte(part, '%') >= 0 {
		part = unescaper.Replace(part)
	}
	return part
}

var (
	escaper   = strings.NewReplacer("%", "%25", "#", "%23")
	unescaper = strings.NewReplacer("%23", "#", "%25", "%")
)

// sortTime is a time as the start of a sort key: 13 digits of milliseconds, so
// that the order of the texts is the order of the times.
func sortTime(t time.Time) (string, error) {
	ms := t.UnixMilli()
	if ms < 0 || ms > maxMillis {
		return "", fmt.Errorf("%w: %s", errTime, t.UTC().Format(time.RFC3339))
	}
	return sortMillis(ms), nil
}

func sortMillis(ms int64) string { return fmt.Sprintf("%013d", ms) }

// parseSort splits the sort key of a log row or a series row.
func parseSort(sk string) (t time.Time, id string, err error) {
	if len(sk) < 13 || len(sk) > 13 && sk[13] != '#' {
		return time.Time{}, "", fmt.Errorf("malformed sort key %q", sk)
	}
	var ms int64
	for _, c := range []byte(sk[:13]) {
		if c < '0' || c > '9' {
			return time.Time{}, "", fmt.Errorf("malformed sort key %q", sk)
		}
		ms = ms*10 + int64(c-'0')
	}
	if len(sk) > 13 {
		id = sk[14:]
	}
	return time.UnixMilli(ms).UTC(), id, nil
}

// firstMillis returns the first whole millisecond that is not before t, within
// the range of a sort key.
func firstMillis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return min(max(ms, 0), maxMillis+1)
}
