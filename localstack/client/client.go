// Package client calls the service as a customer would: over HTTP, with a
// signature it computes itself. It shares no code with the service, so that a
// fault in one of them shows.
package client

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxAnswer bounds what is read of one answer, in bytes.
const maxAnswer = 16 << 20

// Key is an access key with its secret. The zero value signs nothing.
type Key struct {
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
}

// Sign returns the four signature parameters for a moment and a nonce.
func (k Key) Sign(at time.Time, nonce string) url.Values {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha1.New, []byte(k.SecretKey))
	fmt.Fprintf(mac, "AccessKeyId=%s&SignatureNonce=%s&Timestamp=%s", k.AccessKey, nonce, timestamp)
	return url.Values{
		"AccessKeyId":    {k.AccessKey},
		"SignatureNonce": {nonce},
		"Timestamp":      {timestamp},
		"Signature":      {base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%x", mac.Sum(nil)))},
	}
}

// Client calls one deployment.
type Client struct {
	BaseURL string       // ends with /api
	HTTP    *http.Client // nil is a client with a timeout of 35 s
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Data decodes the data member of the answer's envelope.
func (a Answer) Data(into any) error {
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		return fmt.Errorf("read the envelope of %.200s: %w", a.Body, err)
	}
	return json.Unmarshal(envelope.Data, into)
}

// Get calls a path, relative to the base address and with business parameters
// in query, signed with key.
func (c Client) Get(ctx context.Context, key Key, path string, query url.Values) (Answer, error) {
	return c.Do(ctx, key, http.MethodGet, path, query, nil)
}

// Do calls a path with the signature in the query and body, if not nil, as JSON.
func (c Client) Do(ctx context.Context, key Key, method, path string, query url.Values, body any) (Answer, error) {
	parameters := url.Values{}
	for name, values := range query {
		parameters[name] = values
	}
	if key.AccessKey != "" {
		for name, values := range key.Sign(time.Now(), rand.Text()) {
			parameters[name] = values
		}
	}
	target := c.BaseURL + path
	if len(parameters) > 0 {
		target += "?" + parameters.Encode()
	}
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return Answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.Send(req)
}

// Send sends a request that the caller made itself.
func (c Client) Send(req *http.Request) (Answer, error) {
	caller := c.HTTP
	if caller == nil {
		caller = &http.Client{Timeout: 35 * time.Second}
	}
	res, err := caller.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer: %w", err)
	}
	return Answer{Status: res.StatusCode, Header: res.Header, Body: body}, nil
}

// Invoke calls a function through the Lambda Invoke API at lambdaURL with a
// JSON event, and decodes its result.
func Invoke(ctx context.Context, lambdaURL, function string, event, result any) error {
	payload, err := json.Marshal(event)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, lambdaURL+"/2015-03-31/functions/"+function+"/invocations", bytes.NewReader(payload))
	if err != nil {
		return err
	}
	answer, err := Client{}.Send(req)
	if err != nil {
		return fmt.Errorf("invoke %s: %w", function, err)
	}
	if answer.Status != http.StatusOK || answer.Header.Get("X-Amz-Function-Error") != "" {
		return fmt.Errorf("invoke %s: status %d: %.500s", function, answer.Status, answer.Body)
	}
	return json.Unmarshal(answer.Body, result)
}
