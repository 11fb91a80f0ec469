// Package objects has what the programs of a deployment need of a bucket beyond the
// S3 client: [List] gives each page a deadline of its own, [Create] makes what nobody has made,
// and [Exists] tells a refusal apart.
package objects

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// List returns the objects that in selects, in the order of their keys. It asks for
// a page when the caller has taken the one before, and gives each request so long. An
// error ends the sequence.
func List(ctx context.Context, from s3.ListObjectsV2APIClient, in *s3.ListObjectsV2Input, timeout time.Duration) iter.Seq2[types.Object, error] {
	return func(yield func(types.Object, error) bool) {
		for pages := s3.NewListObjectsV2Paginator(from, in); pages.HasMorePages(); {
			page, err := next(ctx, pages, timeout)
			if err != nil {
				yield(types.Object{}, err)
				return
			}
			for _, object := range page.Contents {
				if !yield(object, nil) {
					return
				}
			}
		}
	}
}

func next(ctx context.Context, pages *s3.ListObjectsV2Paginator, timeout time.Duration) (*s3.ListObjectsV2Output, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return pages.NextPage(ctx)
}

// ErrExists means that there is an object of a key already.
var ErrExists = errors.New("the object exists already")

// Putter is the part of the S3 client that Create needs.
type Putter interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Create makes an object that does not exist, within so long. The error may be [ErrExists]; after
// any other it may have been made.
func Create(ctx context.Context, in Putter, put *s3.PutObjectInput, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	put.IfNoneMatch = aws.String("*")
	_, err := in.PutObject(ctx, put)
	if Exists(err) {
		err = ErrExists
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", aws.ToString(put.Key), err)
	}
	return nil
}

// Exists reports whether a put that was to make a new object (If-None-Match: *) was
// refused because there is one of its key.
func Exists(err error) bool {
	var status *smithyhttp.ResponseError
	return errors.As(err, &status) && status.HTTPStatusCode() == http.StatusPreconditionFailed
}
