// Package dynamo is a DynamoDB client that is quick on the way of every
// request.
//
// Reading a key, recording a nonce and counting are one BatchGetItem, one
// PutItem and two UpdateItem a request. The SDK spends more on each of them than
// the engine does. Client makes those three operations itself: it writes the
// JSON, signs it and reads the answer, on a connection that it has to itself
// while it waits. Whatever is not plain
// (an option it does not know, an error other than a failed condition, a
// network that failed) it leaves to the SDK, which repeats the request with its
// own retries. All other operations are the SDK's.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/sigv4"
)

// maxAnswer bounds an answer in bytes; DynamoDB's own limit is 16 MB.
const maxAnswer = 17 << 20

// Client is the SDK's client with three operations made quick.
type Client struct {
	*dynamodb.Client

	keys sigv4.Keyring
	pool *pool // nil when all is left to the SDK
}

// New returns a client that speaks to the same endpoint with the same
// credentials as the SDK's, over connections that are set up in the same way.
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
		Client: sdk,
		keys:   sigv4.Keyring{Service: "dynamodb", Region: options.Region, Credentials: options.Credentials},
		pool:   newPool(&target, options.HTTPClient),
	}, nil
}

// UpdateItem is the SDK's UpdateItem. A failed condition is a
// [*types.ConditionalCheckFailedException].
func (c *Client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	body, ok := appendUpdate(make([]byte, 0, 512), in)
	if ok && len(options) == 0 {
		if attributes, done, err := c.write(ctx, "UpdateItem", body); done {
			return &dynamodb.UpdateItemOutput{Attributes: attributes}, err
		}
	}
	return c.Client.UpdateItem(ctx, in, options...)
}

// PutItem is the SDK's PutItem. A failed condition is a
// [*types.ConditionalCheckFailedException].
func (c *Client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	body, ok := appendPut(make([]byte, 0, 512), in)
	if ok && len(options) == 0 {
		if attributes, done, err := c.write(ctx, "PutItem", body); done {
			return &dynamodb.PutItemOutput{Attributes: attributes}, err
		}
	}
	return c.Client.PutItem(ctx, in, options...)
}

// BatchGetItem is the SDK's BatchGetItem.
func (c *Client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	body, ok := appendBatchGet(make([]byte, 0, 1024), in)
	if ok && len(options) == 0 {
		text, done, err := c.ask(ctx, "BatchGetItem", body)
		if err != nil {
			return nil, err
		}
		if responses, ok := readBatch(text); done && ok {
			return &dynamodb.BatchGetItemOutput{Responses: responses}, nil
		}
	}
	return c.Client.BatchGetItem(ctx, in, options...)
}

// write makes a request that is answered with attributes.
func (c *Client) write(ctx context.Context, operation string, body []byte) (attributes map[string]types.AttributeValue, done bool, err error) {
	text, done, err := c.ask(ctx, operation, body)
	if !done || err != nil {
		return nil, done, err
	}
	attributes, ok := readAttributes(text)
	if !ok {
		// What was written must not be written again because the answer reads oddly.
		return nil, true, fmt.Errorf("read the answer to %s: %w", operation, errAnswer)
	}
	return attributes, true, nil
}

var errAnswer = errors.New("not an answer of DynamoDB")

// ask sends one request. Done is false when the SDK has to make the request
// again: the outcome is then not known here.
func (c *Client) ask(ctx context.Context, operation string, body []byte) (text string, done bool, err error) {
	if c.pool == nil {
		return "", false, nil
	}
	if err := ctx.Err(); err != nil {
		return "", true, fmt.Errorf("%s: %w", operation, err)
	}
	now := sigv4.StampOf(time.Now())
	key, err := c.keys.At(ctx, now)
	if err != nil {
		return "", false, nil //nolint:nilerr // the SDK says what is wrong with the credentials
	}
	payload := sigv4.PayloadOf(body)
	status, text, err := c.pool.exchange(ctx, key, sigv4.Request{
		Method: http.MethodPost, Path: c.pool.path, Host: c.pool.host,
		ContentType: "application/x-amz-json-1.0", Target: "DynamoDB_20120810." + operation,
		Length: len(body), Payload: &payload, Now: now,
	}, body)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", true, fmt.Errorf("%s: %w", operation, ctx.Err())
	case err != nil:
		return "", false, nil //nolint:nilerr // the SDK tries again
	case status != http.StatusOK:
		done, err := failedCondition(text)
		return "", done, err
	}
	return text, true, nil
}

// failedCondition reads the error of a request. Any other than a failed
// condition is left to the SDK.
func failedCondition(text string) (done bool, err error) {
	kind, message, item, ok := readFault(text)
	if !ok || !strings.HasSuffix(kind, "#ConditionalCheckFailedException") {
		return false, nil
	}
	return true, &types.ConditionalCheckFailedException{Message: &message, Item: item}
}

var errKind = errors.New("an attribute of an unknown kind")
