package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// owner is a publisher that replaces only versions which it knows.
type owner struct {
	confirm func(context.Context) error

	mu    sync.Mutex
	etags map[string]string // by key: of the version that may be replaced
}

// Owned returns the views for a publisher that may be replaced by another one
// without knowing. Confirm reports, from a place that knows at once, whether it is
// still the one.
//
// A version is replaced only if it is the one that this publisher made itself,
// or one that it has seen before confirm said yes. A request that is made by
// then but arrives after the next publisher's own is refused by S3.
func (v *Views) Owned(confirm func(context.Context) error) *Views {
	owned := *v
	owned.owner = &owner{confirm: confirm, etags: map[string]string{}}
	return &owned
}

// replace puts an object in place of the version that the owner knows.
func (v *Views) replace(ctx context.Context, put *s3.PutObjectInput) error {
	o := v.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	etag, known := o.etags[*put.Key]
	if !known {
		var err error
		if etag, err = v.seen(ctx, put.Key); err != nil {
			return err
		}
		if err := o.confirm(ctx); err != nil {
			return err
		}
	}
	if etag == "" {
		put.IfNoneMatch = aws.String("*")
	} else {
		put.IfMatch = &etag
	}
	out, err := v.objects.PutObject(ctx, put)
	if err != nil {
		// Nobody knows whether it was replaced: a repetition looks first.
		delete(o.etags, *put.Key)
		return err
	}
	o.etags[*put.Key] = aws.ToString(out.ETag)
	return nil
}

// seen is the ETag of the version that is there, "" without any.
func (v *Views) seen(ctx context.Context, key *string) (etag string, err error) {
	out, err := v.objects.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &v.bucket, Key: key})
	var status *smithyhttp.ResponseError
	if errors.As(err, &status) && status.HTTPStatusCode() == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look at the version that is there: %w", err)
	}
	return aws.ToString(out.ETag), nil
}
