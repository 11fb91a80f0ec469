package objects_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/objects"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestAListGoesOverPagesInTheOrderOfKeys(t *testing.T) {
	t.Parallel()
	client, bucket := storetest.S3(t)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprint("kept/", i))
	}
	for _, key := range append([]string{"other/0"}, want...) {
		must.Get(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(key)}))(t)
	}
	var got []string
	for object := range must.All(t, objects.List(t.Context(), client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("kept/"), MaxKeys: aws.Int32(3)}, time.Minute)) {
		got = append(got, *object.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

// mute is a bucket that never answers.
type mute struct{}

func (mute) ListObjectsV2(ctx context.Context, _ *s3.ListObjectsV2Input, _ ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAListWaitsNoLongerThanItsTimeout(t *testing.T) {
	t.Parallel()
	n := 0
	for _, err := range objects.List(t.Context(), mute{}, &s3.ListObjectsV2Input{}, time.Millisecond) {
		if n++; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d results", n)
	}
}

func TestAnObjectThatExistsIsToldFromOtherRefusals(t *testing.T) {
	t.Parallel()
	client, bucket := storetest.S3(t)
	put := func(bucket string) error {
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("one"), Body: strings.NewReader("1"), IfNoneMatch: aws.String("*")})
		return err
	}
	must.Do(t, put(bucket))
	if err := put(bucket); !objects.Exists(err) {
		t.Errorf("error is %v", err)
	}
	if err := put("absent"); err == nil || objects.Exists(err) {
		t.Errorf("without a bucket error is %v", err)
	}
}
