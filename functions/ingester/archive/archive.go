// Package archive keeps rows of logs as Parquet files on S3, by dataset and day:
//
//	archive/<dataset>/date=<yyyy-mm-dd>/<name>.parquet
//
// Engines that know partitions by their folder (Athena, DuckDB, Spark) read them as
// they are. A day has any number of files; each row is in one. A file is written once,
// whole, and is never replaced or deleted by the product.
//
// The columns are those of [columns.Row], which hold the row as it was stored, and
// those of the dataset, one for each field of its values. Decimals are texts, as
// everywhere: no float has seen them.
//
// The package engine of the ingester decides what is archived and when.
package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/parquet-go/parquet-go"

	"quotary/functions/ingester/objects"
	"quotary/shared/store"
	"quotary/shared/store/columns"
)

// Dataset is a log dataset that can be archived.
type Dataset struct {
	// Encode makes a file of rows. Those that the dataset cannot read or Parquet cannot
	// hold are reported by their index, each once, and left out; kept are the others, in
	// the file's order. The error is that of rows which cannot be encoded together,
	// though each alone can.
	Encode func(rows []store.Row, refuse func(row int, reason error)) (file []byte, kept []store.Row, err error)

	// Unfinished reports that a row is to be replaced yet, and not archived as it is; nil is for none.
	Unfinished func(store.Row) bool
}

// NewDataset returns the dataset whose rows have the columns of T, which embeds
// [columns.Row].
func NewDataset[T any](archived func(store.Row) (T, error)) *Dataset {
	return &Dataset{Encode: func(rows []store.Row, refuse func(int, error)) ([]byte, []store.Row, error) {
		return encode(rows, archived, refuse)
	}}
}

// chunk is how many rows are on their way between a file and its rows at a time.
const chunk = 256

// encode makes a file of all rows that one can be made of. What fails for a reason
// that is not said to be a row's is looked for by halves.
func encode[T any](rows []store.Row, archived func(store.Row) (T, error), refuse func(int, error)) ([]byte, []store.Row, error) {
	bad := map[int]error{}
	one := func(r store.Row) (value T, err error) {
		defer recovered(&err)
		return archived(r)
	}
	file, kept, err := write(rows, 0, one, bad)
	if err != nil {
		before := len(bad)
		if locate(rows, 0, one, bad); len(bad) > before {
			file, kept, err = write(rows, 0, one, bad)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(bad)) {
		refuse(i, bad[i])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("encode rows: %w", err)
	}
	return file, kept, nil
}

// locate adds the rows to bad with which no file can be made. The first of them has
// the index from.
func locate[T any](rows []store.Row, from int, archived func(store.Row) (T, error), bad map[int]error) {
	_, _, err := write(rows, from, archived, bad)
	switch {
	case err == nil:
	case len(rows) == 1:
		bad[from] = err
	default:
		half := len(rows) / 2
		locate(rows[:half], from, archived, bad)
		locate(rows[half:], from+half, archived, bad)
	}
}

// write makes a file of the rows that are not bad, and adds to these. The first row
// has the index from.
func write[T any](rows []store.Row, from int, archived func(store.Row) (T, error), bad map[int]error) (_ []byte, kept []store.Row, err error) {
	defer recovered(&err)
	var file bytes.Buffer
	w := parquet.NewGenericWriter[T](&file, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("quotary", "", ""))
	kept = make([]store.Row, 0, len(rows))
	values := make([]T, 0, chunk)
	flush := func() error {
		_, err := w.Write(values)
		values = values[:0]
		return err
	}
	for i, r := range rows {
		if bad[from+i] != nil {
			continue
		}
		value, err := archived(r)
		if err != nil {
			bad[from+i] = err
			continue
		}
		kept, values = append(kept, r), append(values, value)
		if len(values) == chunk {
			if err := flush(); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, nil, err
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	return file.Bytes(), kept, nil
}

// recovered makes a panic an error. Parquet writers panic on values that their columns
// cannot take: a row must not end the process, which meets it again at the next start.
func recovered(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("panic: %v", fault)
	}
}

// Files are those of a bucket.
type Files struct {
	Objects Objects
	Bucket  string
}

// Objects is the part of the S3 client that Files needs.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	s3.ListObjectsV2APIClient
}

// requestTimeout bounds one request.
const requestTimeout = time.Minute

// maxFile bounds a file in memory, in bytes.
const maxFile = 256 << 20

// Folder is what the keys of a dataset's files begin with.
func Folder(dataset string) string { return "archive/" + dataset + "/" }

// DayFolder is what the keys of a day's files begin with.
func DayFolder(dataset string, day time.Time) string {
	return Folder(dataset) + "date=" + day.UTC().Format(time.DateOnly) + "/"
}

// DatasetOf is the dataset of a file, "" for a key of another form.
func DatasetOf(key string) string {
	rest, ok := strings.CutPrefix(key, "archive/")
	dataset, _, found := strings.Cut(rest, "/")
	if !ok || !found {
		return ""
	}
	return dataset
}

// List returns the keys of the files in a folder in their order.
func (f Files) List(ctx context.Context, folder string) ([]string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &f.Bucket, Prefix: &folder}
	var keys []string
	for object, err := range objects.List(ctx, f.Objects, in, requestTimeout) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", folder, err)
		}
		if key := aws.ToString(object.Key); isFile(key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// Next returns the key of the first file in a folder that comes after a key, "" for
// none.
func (f Files) Next(ctx context.Context, folder, after string) (string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &f.Bucket, Prefix: &folder, MaxKeys: aws.Int32(1)}
	if after != "" {
		in.StartAfter = &after
	}
	for object, err := range objects.List(ctx, f.Objects, in, requestTimeout) {
		if err != nil {
			return "", fmt.Errorf("list %s: %w", folder, err)
		}
		if key := aws.ToString(object.Key); isFile(key) {
			return key, nil
		}
	}
	return "", nil
}

// isFile tells files from what engines that read the archive may leave beside them.
func isFile(key string) bool { return strings.HasSuffix(key, ".parquet") }

// Create writes a file that does not exist. The error may be [objects.ErrExists]; after any
// other it may have been written.
func (f Files) Create(ctx context.Context, key string, file []byte) error {
	return objects.Create(ctx, f.Objects, &s3.PutObjectInput{
		Bucket: &f.Bucket, Key: &key, Body: bytes.NewReader(file), ContentType: aws.String("application/vnd.apache.parquet"),
	}, requestTimeout)
}

// Occupy makes a file without rows, so that nobody else can create one of that name.
// The error may be [objects.ErrExists].
func (f Files) Occupy(ctx context.Context, key string) error {
	empty, _, err := encode(nil, func(r store.Row) (columns.Row, error) { return columns.FromRow(r), nil }, nil)
	if err != nil {
		return err
	}
	return f.Create(ctx, key, empty)
}

// Rows returns the rows of a file in its order. The file is held in memory, its rows
// a few at a time. An error ends the sequence.
func (f Files) Rows(ctx context.Context, key string) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		file, err := f.read(ctx, key)
		if err != nil {
			yield(store.Row{}, fmt.Errorf("read %s: %w", key, err))
			return
		}
		for r, err := range Decode(file) {
			if err != nil {
				yield(store.Row{}, fmt.Errorf("read %s: %w", key, err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (f Files) read(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	out, err := f.Objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &f.Bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	file, err := io.ReadAll(io.LimitReader(out.Body, maxFile+1))
	if err == nil && len(file) > maxFile {
		err = fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	return file, err
}

// Decode returns the rows of a file in its order. An error ends the sequence.
func Decode(file []byte) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		opened, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			yield(store.Row{}, err)
			return
		}
		r := parquet.NewGenericReader[columns.Row](opened)
		defer r.Close()
		values := make([]columns.Row, chunk)
		for left := r.NumRows(); left > 0; {
			n, err := r.Read(values)
			for i := range values[:n] {
				if !yield(values[i].Stored(), nil) {
					return
				}
			}
			left -= int64(n)
			if err != nil && (!errors.Is(err, io.EOF) || left > 0) {
				yield(store.Row{}, err)
				return
			}
		}
	}
}
