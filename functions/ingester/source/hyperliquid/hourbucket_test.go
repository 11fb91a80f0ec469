package hyperliquid

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/testing/must"
)

// payersBucket serves files as S3 does those of a bucket whose readers pay.
type payersBucket struct {
	files map[string]string
	page  int // files of a page
	fault int // status of every answer, 0 for none
}

func (b *payersBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case b.fault != 0:
		refuse(b.fault, "Something")
	case !strings.Contains(r.Header.Get("Authorization"), "/ap-northeast-1/s3/aws4_request"), r.Header.Get("X-Amz-Request-Payer") != "requester":
		refuse(http.StatusForbidden, "AccessDenied")
	case bucket != "hours":
		refuse(http.StatusNotFound, "NoSuchBucket")
	case key == "":
		b.list(w, r)
	case b.files[key] == "":
		refuse(http.StatusNotFound, "NoSuchKey")
	case r.Header.Get("If-Match") != etagOf([]byte(b.files[key])):
		refuse(http.StatusPreconditionFailed, "PreconditionFailed")
	default:
		w.Header().Set("ETag", etagOf([]byte(b.files[key])))
		_, _ = io.WriteString(w, b.files[key])
	}
}

func (b *payersBucket) list(w http.ResponseWriter, r *http.Request) {
	type object struct {
		Key, ETag string
		Size      int
	}
	var answer struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []object
		IsTruncated           bool
		NextContinuationToken string
	}
	for h := range 24 {
		key := fmt.Sprintf("%s%02d", r.URL.Query().Get("prefix"), h)
		if body, ok := b.files[key]; ok && key > r.URL.Query().Get("continuation-token") {
			if len(answer.Contents) == b.page {
				answer.IsTruncated, answer.NextContinuationToken = true, answer.Contents[b.page-1].Key
				break
			}
			answer.Contents = append(answer.Contents, object{key, etagOf([]byte(body)), len(body)})
		}
	}
	_ = xml.NewEncoder(w).Encode(answer)
}

func (b *payersBucket) open(t *testing.T, name string) S3Hours {
	t.Helper()
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	client := s3.New(s3.Options{
		Region: "ap-northeast-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		BaseEndpoint: aws.String(server.URL), UsePathStyle: true, HTTPClient: server.Client(), RetryMaxAttempts: 1,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})
	return S3Hours{Client: client, Name: name}
}

func TestABucketIsReadSignedAndPaidForByItsReader(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for h := range 24 {
		files[fmt.Sprintf("day/%02d", h)] = fmt.Sprint("hour ", h)
	}
	files["another/00"] = "x"
	bucket := (&payersBucket{files: files, page: 10}).open(t, "hours")
	listed := must.Get(bucket.List(t.Context(), "day/"))(t)
	if len(listed) != 24 || listed["day/07"] != (HourFile{etagOf([]byte("hour 7")), 6}) {
		t.Errorf("it lists %v", listed)
	}
	body := must.Get(bucket.Get(t.Context(), "day/07", listed["day/07"].ETag))(t)
	if text, err := io.ReadAll(body); string(text) != "hour 7" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	must.Do(t, body.Close())
}

func TestWhatABucketAnswersIsToldApart(t *testing.T) {
	t.Parallel()
	files := map[string]string{"day/00": "hour"}
	for name, c := range map[string]struct {
		fault     int
		bucket    string
		key, etag string
		list, get error // nil for one of the way there
	}{
		"another version":    {0, "hours", "day/00", "\"x\"", nil, ErrHourReplaced},
		"a file that is not": {0, "hours", "day/01", "\"x\"", nil, ErrHourReplaced},
		"no such bucket":     {0, "days", "day/00", "\"x\"", ErrHoursRefused, ErrHoursRefused},
		"refused":            {http.StatusForbidden, "hours", "day/00", "\"x\"", ErrHoursRefused, ErrHoursRefused},
		"another region":     {http.StatusMovedPermanently, "hours", "day/00", "\"x\"", ErrHoursRefused, ErrHoursRefused},
		"too many requests":  {http.StatusTooManyRequests, "hours", "day/00", "\"x\"", nil, nil},
		"trouble of its own": {http.StatusServiceUnavailable, "hours", "day/00", "\"x\"", nil, nil},
	} {
		bucket := (&payersBucket{files: files, page: 10, fault: c.fault}).open(t, c.bucket)
		check := func(what string, err, want error) {
			if c.fault == 0 && want == nil && what == "list" {
				if err != nil {
					t.Errorf("%s: listed with %v", name, err)
				}
				return
			}
			if err == nil || want != nil && !errors.Is(err, want) || want == nil && (errors.Is(err, ErrHoursRefused) || errors.Is(err, ErrHourReplaced)) {
				t.Errorf("%s: %s: %v, want %v", name, what, err, want)
			}
		}
		_, err := bucket.List(t.Context(), "day/")
		check("list", err, c.list)
		_, err = bucket.Get(t.Context(), c.key, c.etag)
		check("get", err, c.get)
	}
}
