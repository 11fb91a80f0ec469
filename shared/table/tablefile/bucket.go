package tablefile

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Bucket has the files of a table.
type Bucket struct {
	Client Getter
	Name   string
}

// Getter is the part of the S3 client that a Bucket needs.
type Getter interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// rangeTimeout bounds one request.
const rangeTimeout = 20 * time.Second

// Range implements [Objects].
func (b *Bucket) Range(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, rangeTimeout)
	defer cancel()
	out, err := b.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+n-1))})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	body := make([]byte, n)
	if _, err := io.ReadFull(out.Body, body); err != nil {
		return nil, fmt.Errorf("read %d bytes of %s from %d on: %w", n, key, offset, err)
	}
	return body, nil
}
