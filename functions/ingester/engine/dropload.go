package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"quotary/shared/backoff"
	"quotary/shared/data/drop"
	"quotary/shared/store"
)

// DropLoad puts a file into the bucket as a drop, and waits until the running
// ingester has taken it.
type DropLoad struct {
	Domain, Dataset string
	Reload          bool // the lines are taken although a drop with the same content was
	Objects         DropObjects
	Bucket          string
	Series          *store.Series
	Out             io.Writer     // for the person who waits
	Idle            time.Duration // without progress for this long it gives up; 0 means three minutes
}

const (
	loadIdle = 3 * time.Minute // longer than the ingester waits between two looks
	loadPoll = 200 * time.Millisecond
	loadSaid = time.Second // between two lines of how far it is
)

// Run loads the file at path at a time, which makes its name.
func (l *DropLoad) Run(ctx context.Context, path string, now time.Time) (drop.Report, error) {
	file := now.UTC().Format("20060102T150405.000Z-") + filepath.Base(path)
	if l.Reload {
		file = drop.Reload + file
	}
	key := drop.Key(l.Dataset, file)
	if err := l.put(ctx, key, path); err != nil {
		return drop.Report{}, err
	}
	fmt.Fprintf(l.Out, "put %s\n", key)
	idle := l.Idle
	if idle == 0 {
		idle = loadIdle
	}
	var line int64
	p := newPace(0, time.Now())
	for deadline := time.Now().Add(idle); ; {
		report, found, err := l.report(ctx, key)
		if found {
			return report, nil
		}
		at, failed := l.line(ctx, key)
		if failed == nil && at > line {
			line, deadline = at, time.Now().Add(idle)
		}
		if now := time.Now(); line > 0 && p.due(now, loadSaid) {
			fmt.Fprintf(l.Out, "%d lines, %d lines/s\n", line, p.rate(line, now))
		}
		if time.Now().After(deadline) {
			return report, errors.Join(fmt.Errorf("the ingester made no progress for %s: is it running? It takes %s when it does", idle, key), err, failed)
		}
		if err := backoff.Sleep(ctx, loadPoll); err != nil {
			return report, fmt.Errorf("interrupted; the ingester goes on with %s: %w", key, err)
		}
	}
}

func (l *DropLoad) put(ctx context.Context, key, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("load: %s is no file", path)
	}
	if _, err := l.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &l.Bucket, Key: &key, Body: file}); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// report is the report of a drop, if there is one.
func (l *DropLoad) report(ctx context.Context, key string) (report drop.Report, found bool, err error) {
	out, err := l.Objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &l.Bucket, Key: aws.String(key + drop.Suffix)})
	var absent *types.NoSuchKey
	if errors.As(err, &absent) {
		return report, false, nil
	}
	if err != nil {
		return report, false, fmt.Errorf("read the report of %s: %w", key, err)
	}
	defer out.Body.Close()
	err = json.NewDecoder(out.Body).Decode(&report)
	return report, err == nil, err
}

// line is the last line that was taken.
func (l *DropLoad) line(ctx context.Context, key string) (int64, error) {
	body, err := l.Series.Checkpoint(ctx, Checkpoint(l.Domain, dropsName, key))
	if err != nil || body == nil {
		return 0, err
	}
	var at dropProgress
	err = json.Unmarshal(body, &at)
	return at.Line, err
}
