// Package awsclient opens the clients of AWS, tuned in one place for what
// functions and the ingester do: many small requests to few tables.
//
// The SDK reads AWS_* from the environment. AWS_ENDPOINT_URL_DYNAMODB and its
// like put another server in the place of AWS, as the local stack does.
package awsclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/backoff"
)

const (
	// attempts is how often a request is made at most: the SDK repeats one that
	// was throttled or whose answer was lost, after a pause with jitter. A counter
	// whose answer was lost may so be raised twice, never too little.
	attempts = 3

	// idlePerHost is how many connections are kept to one server: the ingester
	// writes up to 64 rows at once, a function has two or three requests under way.
	idlePerHost = 64

	// idleTimeout ends an idle connection before DynamoDB does: a request on a
	// connection that the server has closed has to be made again.
	idleTimeout = 15 * time.Second
)

// pauses are short: someone waits for a function, and DynamoDB gives a table more
// capacity within moments.
var pauses = backoff.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second}

// Load returns the settings of all clients. One try of a request ends after
// attempt, and the request with its context.
func Load(ctx context.Context, attempt time.Duration) (aws.Config, error) {
	client := awshttp.NewBuildableClient().WithTimeout(attempt).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns = 2 * idlePerHost
		t.MaxIdleConnsPerHost = idlePerHost
		t.IdleConnTimeout = idleTimeout
	})
	config, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithHTTPClient(client), awsconfig.WithRetryer(retryer))
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the AWS settings: %w", err)
	}
	return config, nil
}

// retryer is the SDK's, which here also repeats a request whose answer was cut off, and
// gives each request its attempts, whatever befalls others: the SDK's own budget of retries
// is one for the whole client, so that the throttled partition of one distributor would use
// up those of all.
func retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.RateLimiter = ratelimit.None
		o.Backoff = retry.BackoffDelayerFunc(func(try int, _ error) (time.Duration, error) { return pauses.Delay(try), nil })
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		}))
	})
}

// DynamoDB returns a client of the tables. A process makes one and shares it.
func DynamoDB(config aws.Config, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(config, append(options, func(o *dynamodb.Options) {
		// TLS has checked what the CRC32 of an answer would check again.
		o.DisableValidateResponseChecksum = true
		o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryDisabled
	})...)
}

// S3 returns a client of the bucket. Servers other than AWS know a bucket by the
// path, not by the host's name.
func S3(config aws.Config) *s3.Client {
	return s3.NewFromConfig(config, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil
		// What is read is checked by TLS and by its own compression. A body that is not read, of
		// a view that has not changed, would be logged as broken.
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
}

// LargeObjects returns a client of a bucket in a region of its own, whose objects take longer to be read than one
// try of a request may take by [Load]: each request ends with its context.
func LargeObjects(config aws.Config, region string) *s3.Client {
	config = config.Copy()
	config.Region = region
	if client, ok := config.HTTPClient.(*awshttp.BuildableClient); ok {
		config.HTTPClient = client.WithTimeout(0)
	}
	return S3(config)
}
