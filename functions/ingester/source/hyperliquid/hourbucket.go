package hyperliquid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"quotary/shared/text/visible"
)

// HourFile is a version of a file in the venue's bucket.
type HourFile struct {
	ETag string // another one for another content
	Size int64  // bytes, as it is stored
}

// HourBucket is what [Hours] needs of a bucket. Calls end with their context.
type HourBucket interface {
	// List returns the files whose keys begin with a prefix, by key.
	List(ctx context.Context, prefix string) (map[string]HourFile, error)
	// Get opens that version of a file. Where there is another one by now, or none, the error is
	// [ErrHourReplaced].
	Get(ctx context.Context, key, etag string) (io.ReadCloser, error)
}

// The errors of buckets that are no trouble of the way there.
var (
	ErrHourReplaced = errors.New("the file was replaced or taken away since it was listed")
	// ErrHoursRefused says that who asks may not read the bucket, or that there is none of its name in
	// its region. It says nothing of what is in it.
	ErrHoursRefused = errors.New("the bucket of the venue's hours refuses to be read")
)

// S3Hours is a bucket whose readers pay for what they read, as the venue's is. Its client is one
// of the bucket's region.
type S3Hours struct {
	Client *s3.Client
	Name   string
}

const (
	// askWithin is the deadline of a question, and of each part of an answer that is waited for.
	askWithin = 30 * time.Second
	// mostPages bounds a listing, of 1,000 files each: a day has 24.
	mostPages = 10
)

var errPages = errors.New("the bucket lists more files of a day than there can be")

// List asks for all pages.
func (b S3Hours) List(ctx context.Context, prefix string) (map[string]HourFile, error) {
	files := map[string]HourFile{}
	in := &s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: &prefix, RequestPayer: types.RequestPayerRequester}
	for range mostPages {
		out, err := b.page(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, ofBucket(err))
		}
		for _, o := range out.Contents {
			files[aws.ToString(o.Key)] = HourFile{ETag: aws.ToString(o.ETag), Size: aws.ToInt64(o.Size)}
		}
		if !aws.ToBool(out.IsTruncated) {
			return files, nil
		}
		in.ContinuationToken = out.NextContinuationToken
	}
	return nil, errPages
}

func (b S3Hours) page(ctx context.Context, in *s3.ListObjectsV2Input) (*s3.ListObjectsV2Output, error) {
	ctx, done := context.WithTimeout(ctx, askWithin)
	defer done()
	return b.Client.ListObjectsV2(ctx, in)
}

// Get opens a file. Whoever reads it waits for no part of it longer than [askWithin].
func (b S3Hours) Get(ctx context.Context, key, etag string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stalled := time.AfterFunc(askWithin, func() { cancel(errStalled) })
	out, err := b.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &key, IfMatch: &etag, RequestPayer: types.RequestPayerRequester})
	stalled.Stop()
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("get %s: %w", key, ofBucket(err))
	}
	return &stalling{body: out.Body, cancel: cancel, timer: stalled}, nil
}

var errStalled = fmt.Errorf("nothing came of the bucket for %s", askWithin)

// stalling is a body each read of which has a deadline: the time in between is the reader's own.
type stalling struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (s *stalling) Read(p []byte) (int, error) {
	s.timer.Reset(askWithin)
	n, err := s.body.Read(p)
	s.timer.Stop()
	return n, err
}

func (s *stalling) Close() error {
	s.timer.Stop()
	s.cancel(nil)
	return s.body.Close()
}

// ofBucket says of an answer of S3 what it means.
func ofBucket(err error) error {
	answer := new(awshttp.ResponseError)
	if !errors.As(err, &answer) {
		return err
	}
	switch status := answer.HTTPStatusCode(); {
	case status == http.StatusNotFound && !errors.As(err, new(*types.NoSuchKey)):
		return refusedHours(err) // there is no such bucket
	case status == http.StatusNotFound, status == http.StatusPreconditionFailed:
		return ErrHourReplaced
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return err
	case status >= 300 && status < 500:
		return refusedHours(err)
	}
	return err
}

func refusedHours(err error) error {
	return fmt.Errorf("%w: %s", ErrHoursRefused, visible.Excerpt(err.Error(), 200))
}
