package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/objects"
	"quotary/functions/ingester/source"
	"quotary/shared/data/drop"
	"quotary/shared/store"
)

// Drops is a source of the drops of a domain's datasets: files that lie in the
// bucket as drop/<dataset>/<file>; see package drop. It lists the bucket every so
// often, and consumes what it has not seen, the oldest first.
//
// A drop has a checkpoint of its own, by its key and the ETag of its object, so that
// it is taken once; one that is put again with other content is another drop. So is its
// content, by its ETag and size, in which a bucket without keys of KMS sums it up: the same
// one under another name is not taken, but where that asks for it ([drop.Reload]). What
// became of it is written beside it at its end. Drops stay where they are, until an
// operator removes them. All fields are set before use.
type Drops[B Batch[B]] struct {
	Domain   string
	Datasets []DropDataset[B]
	NewBatch func() B
	Objects  DropObjects
	Bucket   string
	Series   *store.Series // holds the checkpoints
	Every    time.Duration // between two looks at the bucket: one LIST request for every thousand objects

	Stats  *source.Stats
	Logger *slog.Logger

	waiting []dropObject      // of the last list, the oldest first
	taken   map[string]string // ETags of consumed drops, by key
	entries int               // of a delivery; 0 means dropEntries
}

// DropDataset is a dataset that drops may load.
type DropDataset[B any] struct {
	Name   string
	Schema []byte // the JSON Schema of a line, which operators read

	// Append adds the entry of a line to a batch. An error is why the line is not
	// accepted, for the operator; the batch is then as it was. It keeps nothing of line.
	Append func(to B, line []byte, at drop.Place) error
}

// DropObjects is the part of the S3 client that Drops needs.
type DropObjects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	s3.ListObjectsV2APIClient
}

// dropObject is a drop as it is listed.
type dropObject struct {
	key, dataset, file, etag string
	size                     int64
	put                      time.Time
}

// dropProgress is how far a drop has been consumed.
type dropProgress struct {
	ETag string `json:"etag"`
	Line int64  `json:"line"` // the last whose entry was delivered
	Done bool   `json:"done"` // all of it is stored, and reported
}

// dropContent is the drop by which a content was taken.
type dropContent struct {
	File string `json:"file"` // without its dataset
}

const (
	dropsName    = "drops"
	dropEntries  = 1000             // of a delivery
	dropBytes    = 1 << 20          // of the lines of a delivery, and those of one line more
	dropChunk    = 4 << 20          // bytes that are read at once
	dropsTimeout = 30 * time.Second // of a request
	dropSaid     = 10 * time.Second // between two log lines of how far a drop is
)

// Source is the drops as a source, which gives way to live ones.
func (d *Drops[B]) Source() Source[B] {
	return Source[B]{Name: dropsName, Stats: d.Stats, NoCheckpoint: true, Background: true,
		Follow: func(ctx context.Context, _ Position, sink Sink[B]) error { return d.follow(ctx, sink) }}
}

func (d *Drops[B]) follow(ctx context.Context, sink Sink[B]) error {
	d.waiting, d.taken = nil, map[string]string{}
	files := turns{poll: d.Every, logger: d.Logger, what: "drop", next: d.next,
		consume: func(ctx context.Context, key string) error { return d.consume(ctx, key, sink) }}
	return files.run(ctx)
}

// next is the key of the drop that waits longest. The bucket is listed again when all
// of the last list have had their turn.
func (d *Drops[B]) next(ctx context.Context, ready func(string) bool) (string, error) {
	if len(d.waiting) == 0 {
		if err := d.list(ctx); err != nil {
			return "", err
		}
		d.waiting = slices.DeleteFunc(d.waiting, func(o dropObject) bool { return !ready(o.key) })
	}
	if len(d.waiting) == 0 {
		return "", nil
	}
	return d.waiting[0].key, nil
}

// list finds the drops that were not consumed by this process.
func (d *Drops[B]) list(ctx context.Context) error {
	for o, err := range objects.List(ctx, d.Objects, &s3.ListObjectsV2Input{Bucket: &d.Bucket, Prefix: aws.String(drop.Prefix)}, dropsTimeout) {
		if err != nil {
			d.waiting = nil
			return fmt.Errorf("list the drops: %w", err)
		}
		key := aws.ToString(o.Key)
		dataset, file, ok := drop.Split(key)
		if !ok || d.dataset(dataset) == nil || d.taken[key] == aws.ToString(o.ETag) {
			continue
		}
		d.waiting = append(d.waiting, dropObject{key, dataset, file, aws.ToString(o.ETag), aws.ToInt64(o.Size), aws.ToTime(o.LastModified)})
	}
	slices.SortFunc(d.waiting, func(a, b dropObject) int { return cmp.Or(a.put.Compare(b.put), cmp.Compare(a.key, b.key)) })
	return nil
}

func (d *Drops[B]) dataset(name string) *DropDataset[B] {
	for i := range d.Datasets {
		if d.Datasets[i].Name == name {
			return &d.Datasets[i]
		}
	}
	return nil
}

// consume takes the first of those that wait from its checkpoint on, waits until all
// of it is stored, and reports. Whatever happens, the others have their turn then.
func (d *Drops[B]) consume(ctx context.Context, key string, sink Sink[B]) error {
	o := d.waiting[0]
	d.waiting = d.waiting[1:]
	at, err := d.progress(ctx, &o)
	if err != nil {
		return err
	}
	if !at.Done {
		report, err := d.load(ctx, &o, &at, sink)
		if err != nil {
			return err
		}
		if err := d.put(ctx, &o, report.Encode()); err != nil {
			return err
		}
		at.Done = true
		if err := sink.Store(ctx, Delivery[B]{Part: key, Position: encode(at)}); err != nil {
			return err
		}
		d.Logger.Info("consumed a drop", "file", key, "taken", report.Taken, "refused", report.Refused, "sameAs", report.SameAs, "stopped", report.Stopped)
	}
	d.taken[key] = o.etag
	return nil
}

// load takes the lines of a drop, unless its content was taken before, and returns when
// they and that it was taken are stored.
func (d *Drops[B]) load(ctx context.Context, o *dropObject, at *dropProgress, sink Sink[B]) (*drop.Report, error) {
	before, err := d.before(ctx, o)
	if err != nil {
		return nil, err
	}
	if at.Line == 0 && before != "" && before != o.file && !strings.HasPrefix(o.file, drop.Reload) {
		return &drop.Report{Dataset: o.dataset, File: o.file, ETag: o.etag, SameAs: before}, nil
	}
	d.Logger.Info("consuming a drop", "file", o.key, "from", at.Line)
	report, err := d.read(ctx, o, at, sink)
	if err != nil {
		return nil, err
	}
	return report, sink.Store(ctx, Delivery[B]{Part: o.content(), Position: encode(dropContent{File: o.file})})
}

// content names the checkpoint of what a drop holds, unlike any key of a drop.
func (o *dropObject) content() string {
	return fmt.Sprintf("content/%s/%s-%d", o.dataset, strings.Trim(o.etag, `"`), o.size)
}

// before is the file by which the content of a drop was taken last, "" for none.
func (d *Drops[B]) before(ctx context.Context, o *dropObject) (string, error) {
	body, err := d.Series.ClaimCheckpoint(ctx, Checkpoint(d.Domain, dropsName, o.content()))
	if err != nil || body == nil {
		return "", err
	}
	var c dropContent
	if err := json.Unmarshal(body, &c); err != nil {
		return "", fmt.Errorf("read by which drop the content of %s was taken: %w", o.key, err)
	}
	return c.File, nil
}

// progress is how far a drop has been consumed, by whoever did.
func (d *Drops[B]) progress(ctx context.Context, o *dropObject) (at dropProgress, err error) {
	body, err := d.Series.ClaimCheckpoint(ctx, Checkpoint(d.Domain, dropsName, o.key))
	if err != nil {
		return at, err
	}
	if body != nil {
		if err := json.Unmarshal(body, &at); err != nil {
			return at, fmt.Errorf("read the checkpoint of %s: %w", o.key, err)
		}
	}
	if at.ETag != o.etag {
		at = dropProgress{ETag: o.etag}
	}
	return at, nil
}

// read delivers what stands behind a line of a drop, and returns when it is stored.
// The lines before are read too, for the report.
func (d *Drops[B]) read(ctx context.Context, o *dropObject, at *dropProgress, sink Sink[B]) (*drop.Report, error) {
	report := &drop.Report{Dataset: o.dataset, File: o.file, ETag: o.etag}
	dataset, batch, before := d.dataset(o.dataset), d.NewBatch(), at.Line
	file := &objectReader{ctx: ctx, objects: d.Objects, bucket: d.Bucket, object: o}
	size, last, p := 0, at.Line, newPace(before, time.Now())
	defer d.Stats.LinesPerSecond.Store(0)
	err := drop.Lines(ctx, file, o.file, func(line int64, text []byte, err error) error {
		if err == nil {
			err = guard.Do(func() error {
				return dataset.Append(batch, text, drop.Place{Time: o.put.UnixMilli(), File: o.file, Line: line})
			})
		}
		d.Stats.Lines.Add(1)
		if err != nil {
			d.Stats.Malformed.Add(1)
			report.Refuse(line, err)
		} else {
			report.Took()
		}
		size += len(text)
		full := batch.Len() >= cmp.Or(d.entries, dropEntries) || size >= dropBytes
		if line <= before { // delivered by an earlier run
			if full || line == before {
				batch, size = d.NewBatch(), 0
			}
			return nil
		}
		if last = line; !full {
			return nil
		}
		at.Line = line
		now := time.Now()
		d.Stats.Seen(now, 0)
		d.Stats.LinesPerSecond.Store(p.rate(line, now))
		if p.due(now, dropSaid) {
			d.Logger.Info("a drop is being consumed", "file", o.key, "lines", line, "linesPerSecond", p.rate(line, now), "refused", report.Refused)
		}
		delivery := Delivery[B]{Batch: batch, Part: o.key, Position: encode(*at)}
		batch, size = d.NewBatch(), 0
		return sink(ctx, delivery)
	})
	if report.Stopped = drop.Final(err); err != nil && report.Stopped == "" {
		return nil, err
	}
	at.Line = last
	d.Stats.Seen(time.Now(), 0)
	return report, sink.Store(ctx, Delivery[B]{Batch: batch, Part: o.key, Position: encode(*at)})
}

// put writes a report.
func (d *Drops[B]) put(ctx context.Context, o *dropObject, report []byte) error {
	ctx, done := context.WithTimeout(ctx, dropsTimeout)
	defer done()
	_, err := d.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &d.Bucket, Key: aws.String(o.key + drop.Suffix), Body: bytes.NewReader(report), ContentType: aws.String("application/json")})
	if err != nil {
		return fmt.Errorf("write the report of %s: %w", o.key, err)
	}
	return nil
}

// objectReader reads an object chunk by chunk, so that no request lasts for as long
// as its consumer takes.
type objectReader struct {
	ctx     context.Context //nolint:containedctx // that of the one read of a file
	objects DropObjects
	bucket  string
	object  *dropObject

	at    int64 // where the next chunk begins
	chunk []byte
}

// errChanged is an object that is no longer what was listed.
var errChanged = errors.New("the object has changed since it was listed")

// Read implements [io.Reader].
func (r *objectReader) Read(p []byte) (int, error) {
	if len(r.chunk) == 0 {
		if r.at >= r.object.size {
			return 0, io.EOF
		}
		if err := r.fetch(); err != nil {
			return 0, fmt.Errorf("read %s from byte %d on: %w", r.object.key, r.at, err)
		}
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func (r *objectReader) fetch() error {
	ctx, done := context.WithTimeout(r.ctx, dropsTimeout)
	defer done()
	last := min(r.at+dropChunk, r.object.size) - 1
	out, err := r.objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &r.bucket, Key: &r.object.key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", r.at, last))})
	var absent *types.NoSuchKey
	switch {
	case errors.As(err, &absent):
		return errChanged
	case err != nil:
		return err
	}
	defer out.Body.Close()
	if strings.Trim(aws.ToString(out.ETag), `"`) != strings.Trim(r.object.etag, `"`) {
		return errChanged
	}
	r.chunk, err = io.ReadAll(io.LimitReader(out.Body, dropChunk+1))
	if err == nil && int64(len(r.chunk)) != last+1-r.at {
		err = io.ErrUnexpectedEOF
	}
	r.at += int64(len(r.chunk))
	return err
}
