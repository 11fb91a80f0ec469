// Package dynamo is a DynamoDB client that is quick on the way of every
// request.
//
// Reading a key, recording a nonce and counting are one BatchGetItem, one
// PutItem and two UpdateItem a request. The SDK spends more on each of them than
// the engine does. Client makes those three operations itself: it writes the
// JSON, signs with the SDK's signer and reads the answer. Whatever is not plain
// (an option it does not know, an error other than a failed condition, a
// network that failed) it leaves to the SDK, which repeats the request with its
// own retries. All other operations are the SDK's.
package dynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxAnswer bounds an answer in bytes; DynamoDB's own limit is 16 MB.
const maxAnswer = 17 << 20

// Client is the SDK's client with three operations made quick.
type Client struct {
	*dynamodb.Client

	url         string
	region      string
	credentials aws.CredentialsProvider
	http        aws.HTTPClient
	signer      *v4.Signer
}

// New returns a client that speaks to the same endpoint with the same
// credentials and HTTP client as the SDK's.
func New(ctx context.Context, sdk *dynamodb.Client) (*Client, error) {
	options := sdk.Options()
	endpoint, err := options.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: &options.Region, Endpoint: options.BaseEndpoint,
	})
	if err != nil {
		return nil, fmt.Errorf("find the endpoint of DynamoDB: %w", err)
	}
	target := endpoint.URI
	if target.Path == "" {
		target.Path = "/"
	}
	return &Client{
		Client: sdk, url: target.String(), region: options.Region,
		credentials: options.Credentials, http: options.HTTPClient, signer: v4.NewSigner(),
	}, nil
}

// UpdateItem is the SDK's UpdateItem. A failed condition is a
// [*types.ConditionalCheckFailedException].
func (c *Client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	body, ok := appendUpdate(make([]byte, 0, 512), in)
	if ok && len(options) == 0 {
		var answer struct{ Attributes item }
		done, err := c.ask(ctx, "UpdateItem", body, &answer)
		if done {
			return &dynamodb.UpdateItemOutput{Attributes: answer.Attributes.values()}, err
		}
	}
	return c.Client.UpdateItem(ctx, in, options...)
}

// PutItem is the SDK's PutItem. A failed condition is a
// [*types.ConditionalCheckFailedException].
func (c *Client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	body, ok := appendPut(make([]byte, 0, 512), in)
	if ok && len(options) == 0 {
		var answer struct{ Attributes item }
		done, err := c.ask(ctx, "PutItem", body, &answer)
		if done {
			return &dynamodb.PutItemOutput{Attributes: answer.Attributes.values()}, err
		}
	}
	return c.Client.PutItem(ctx, in, options...)
}

// BatchGetItem is the SDK's BatchGetItem.
func (c *Client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	body, ok := appendBatchGet(make([]byte, 0, 1024), in)
	if ok && len(options) == 0 {
		var answer struct {
			Responses       map[string][]item
			UnprocessedKeys map[string]json.RawMessage
		}
		done, err := c.ask(ctx, "BatchGetItem", body, &answer)
		if done && err == nil && len(answer.UnprocessedKeys) == 0 {
			out := &dynamodb.BatchGetItemOutput{Responses: make(map[string][]map[string]types.AttributeValue, len(answer.Responses))}
			for table, items := range answer.Responses {
				list := make([]map[string]types.AttributeValue, len(items))
				for i := range items {
					list[i] = items[i].values()
				}
				out.Responses[table] = list
			}
			return out, nil
		}
	}
	return c.Client.BatchGetItem(ctx, in, options...)
}

// ask sends one request. Done is false when the SDK has to make the request
// again: the outcome is then not known here.
func (c *Client) ask(ctx context.Context, operation string, body []byte, answer any) (done bool, err error) {
	credentials, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // the SDK says what is wrong with them
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, nil //nolint:nilerr // as above
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	sum := sha256.Sum256(body)
	if err := c.signer.SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), "dynamodb", c.region, time.Now()); err != nil {
		return false, nil //nolint:nilerr // as above
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return true, fmt.Errorf("%s: %w", operation, err)
		}
		return false, nil //nolint:nilerr // the SDK tries again
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return false, nil //nolint:nilerr // as above
	}
	if res.StatusCode == http.StatusOK {
		// A write that was made must not be made again because its answer
		// reads oddly; a read may.
		if err := json.Unmarshal(text, answer); err != nil {
			return true, fmt.Errorf("read the answer to %s: %w", operation, err)
		}
		return true, nil
	}
	return failedCondition(text)
}

// failedCondition reads the error of a request. Any other than a failed
// condition is left to the SDK.
func failedCondition(text []byte) (done bool, err error) {
	var fault struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
		Item    item
	}
	if json.Unmarshal(text, &fault) != nil || !strings.HasSuffix(fault.Type, "#ConditionalCheckFailedException") {
		return false, nil
	}
	return true, &types.ConditionalCheckFailedException{Message: &fault.Message, Item: fault.Item.values()}
}

var errKind = errors.New("an attribute of an unknown kind")
