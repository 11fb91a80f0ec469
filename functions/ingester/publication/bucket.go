package publication

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/objects"
	"quotary/shared/store"
	"quotary/shared/table/tablefile"
)

// Bucket is a [Store] in a bucket. Manifest and list are written as views are, so that who publishes no
// longer cannot replace them ([store.Views.Owned]).
type Bucket struct {
	tablefile.Bucket
	Objects Objects
	Views   *store.Views // of the same bucket
	Newest  store.ViewType[tablefile.Manifest]
	ListKey string // of the list of files: a symlink manifest as Hive has them
}

// Objects is the part of the S3 client that a Bucket needs.
type Objects interface {
	objects.Putter
	s3.ListObjectsV2APIClient
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

// requestTimeout bounds one request.
const requestTimeout = time.Minute

// Create implements [Store].
func (b *Bucket) Create(ctx context.Context, key string, file []byte) error {
	kind := "application/vnd.apache.parquet"
	if !strings.HasSuffix(key, suffix) {
		kind = "application/octet-stream"
	}
	return objects.Create(ctx, b.Objects, &s3.PutObjectInput{
		Bucket: &b.Name, Key: &key, Body: bytes.NewReader(file), ContentType: &kind,
	}, requestTimeout)
}

// Files implements [Store].
func (b *Bucket) Files(ctx context.Context, prefix string) (keys []string, err error) {
	for object, err := range objects.List(ctx, b.Objects, &s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: &prefix}, requestTimeout) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, aws.ToString(object.Key))
	}
	return keys, nil
}

// Remove implements [Store].
func (b *Bucket) Remove(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := b.Objects.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: &key})
	return err
}

// Manifest implements [Store].
func (b *Bucket) Manifest(ctx context.Context) (tablefile.Manifest, error) {
	return b.Newest.Load(ctx, b.Views)
}

// Replace implements [Store].
func (b *Bucket) Replace(ctx context.Context, m tablefile.Manifest) error {
	return b.Views.Publish(ctx, b.Newest.Name, b.Newest.Encode(m))
}

// List implements [Store]: a line for each file, as engines name it.
func (b *Bucket) List(ctx context.Context, keys []string) error {
	var lines strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&lines, "s3://%s/%s\n", b.Name, key)
	}
	return b.Views.PublishText(ctx, b.ListKey, lines.String())
}
