package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/klauspost/compress/zstd"
)

// Views holds current states, each published whole as the S3 object
// views/<name>.json.zst.
type Views struct {
	objects Objects
	bucket  string
	limit   int // bytes of a view before compression
	zip     *zstd.Encoder
	unzip   *zstd.Decoder
	owner   *owner // nil publishes whatever anybody else has published
}

// Objects is the part of the S3 client that Views needs.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// ErrNoView means that a view has never been published.
var ErrNoView = errors.New("the view has not been published")

// UnreadableViewError means that what was published cannot be decompressed.
type UnreadableViewError struct {
	Packed []byte // as it was published
	Reason error
}

// Error gives the reason.
func (e *UnreadableViewError) Error() string { return "decompress: " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *UnreadableViewError) Unwrap() error { return e.Reason }

// maxView bounds a view in bytes before compression: what is published, and what a
// small object may unpack to.
const maxView = 256 << 20

// NewViews returns the views that are kept in the bucket.
func NewViews(objects Objects, bucket string) *Views { return newViews(objects, bucket, maxView) }

func newViews(objects Objects, bucket string, limit int) *Views {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constant and valid
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
	if err != nil {
		panic(err)
	}
	return &Views{objects: objects, bucket: bucket, limit: limit, zip: zip, unzip: unzip}
}

// Publish replaces the view by body, which is JSON. The error is [ErrInvalid] when that is
// larger than a view may be.
func (v *Views) Publish(ctx context.Context, name string, body []byte) error {
	if len(body) > v.limit {
		return fmt.Errorf("publish view %s: %w: it has %d bytes, more than %d", name, ErrInvalid, len(body), v.limit)
	}
	if err := v.put(ctx, &s3.PutObjectInput{
		Key:             viewKey(name),
		Body:            bytes.NewReader(v.zip.EncodeAll(body, nil)),
		ContentType:     aws.String("application/json"),
		ContentEncoding: aws.String("zstd"),
	}); err != nil {
		return fmt.Errorf("publish view %s: %w", name, err)
	}
	return nil
}

// PublishText replaces a text of the bucket as Publish does a view, for readers that know nothing of
// views: it lies under a key of its own as it is.
func (v *Views) PublishText(ctx context.Context, key, text string) error {
	if err := v.put(ctx, &s3.PutObjectInput{Key: &key, Body: strings.NewReader(text), ContentType: aws.String("text/plain")}); err != nil {
		return fmt.Errorf("publish %s: %w", key, err)
	}
	return nil
}

func (v *Views) put(ctx context.Context, put *s3.PutObjectInput) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	put.Bucket = &v.bucket
	if v.owner != nil {
		return v.replace(ctx, put)
	}
	_, err := v.objects.PutObject(ctx, put)
	return err
}

// Fetch returns the view and its ETag. When the view still has the given ETag
// it returns no body and modified is false; an empty etag fetches in any case.
// The error is ErrNoView when the view has never been published, and an
// [*UnreadableViewError] when it is damaged.
func (v *Views) Fetch(ctx context.Context, name, etag string) (body []byte, newETag string, modified bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	body, newETag, modified, err = v.fetch(ctx, name, etag)
	if err != nil {
		return nil, "", false, fmt.Errorf("fetch view %s: %w", name, err)
	}
	return body, newETag, modified, nil
}

func (v *Views) fetch(ctx context.Context, name, etag string) ([]byte, string, bool, error) {
	in := &s3.GetObjectInput{Bucket: &v.bucket, Key: viewKey(name)}
	if etag != "" {
		in.IfNoneMatch = &etag
	}
	out, err := v.objects.GetObject(ctx, in)
	var status *smithyhttp.ResponseError
	var absent *types.NoSuchKey
	switch {
	case errors.As(err, &status) && status.HTTPStatusCode() == http.StatusNotModified:
		return nil, etag, false, nil
	case errors.As(err, &absent):
		return nil, "", false, ErrNoView
	case err != nil:
		return nil, "", false, err
	}
	defer out.Body.Close()
	newETag := aws.ToString(out.ETag)
	if etag != "" && newETag == etag { // from an S3 that knows no If-None-Match
		return nil, etag, false, nil
	}
	body, err := v.unpack(out.Body)
	if err != nil {
		return nil, "", false, err
	}
	return body, newETag, true, nil
}

// unpack reads a compressed body. What is larger than the limit, packed or not, is
// not read to its end.
func (v *Views) unpack(object io.Reader) ([]byte, error) {
	packed, err := io.ReadAll(io.LimitReader(object, int64(v.limit)+1))
	if err != nil {
		return nil, err
	}
	if len(packed) > v.limit {
		return nil, fmt.Errorf("the object has more than %d bytes", v.limit)
	}
	body, err := v.unzip.DecodeAll(packed, nil)
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch):
		return nil, &UnreadableViewError{packed, errors.New("the object is not compressed with zstd")}
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, fmt.Errorf("decompress: the view has more than %d bytes", v.limit)
	case err != nil:
		return nil, &UnreadableViewError{packed, fmt.Errorf("the object is corrupt: %w", err)}
	}
	return body, nil
}

func viewKey(name string) *string { return aws.String("views/" + name + ".json.zst") }
