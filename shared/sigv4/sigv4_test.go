package sigv4_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"pgregory.net/rapid"

	"quotary/shared/sigv4"
)

var (
	noon  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	known = aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
)

// The signature was computed with openssl.
func TestASignatureIsThatOfAKnownRequest(t *testing.T) {
	t.Parallel()
	key := sigv4.NewKey(known, "20260304", "eu-central-1", "execute-api")
	frame := []byte(`{"channel":"pong"}`)
	payload := sigv4.PayloadOf(frame)
	var s sigv4.Signer
	got := string(s.AppendHeader(nil, key, sigv4.Request{
		Method: "POST", Host: "abc.execute-api.eu-central-1.amazonaws.com", Path: []byte("/prod/@connections/L0SM9cOFvHcCIhw%3D"),
		Length: len(frame), Payload: &payload, Now: sigv4.StampOf(noon),
	}))
	const want = "Content-Length: 18\r\nHost: abc.execute-api.eu-central-1.amazonaws.com\r\nX-Amz-Date: 20260304T120000Z\r\n" +
		"Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260304/eu-central-1/execute-api/aws4_request, " +
		"SignedHeaders=content-length;host;x-amz-date, Signature=7b6174454251cae057c755f6de093912daea6bbb26aff53abc48583d5efad16c\r\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Whatever headers a request has, the SDK's signer signs it the same.
func TestSignaturesAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()
	var s sigv4.Signer
	rapid.Check(t, func(t *rapid.T) {
		credentials := known
		credentials.SessionToken = rapid.SampledFrom([]string{"", "token/+="}).Draw(t, "token")
		body := []byte(rapid.String().Draw(t, "body"))
		payload := sigv4.PayloadOf(body)
		now := noon.Add(time.Duration(rapid.Int64Range(0, 1<<30).Draw(t, "second")) * time.Second)
		r := sigv4.Request{
			Method:      rapid.SampledFrom([]string{"POST", "DELETE"}).Draw(t, "method"),
			Path:        sigv4.AppendEscaped([]byte("/"), rapid.String().Draw(t, "path"), true),
			Host:        "dynamodb.eu-central-1.amazonaws.com",
			ContentType: rapid.SampledFrom([]string{"", "application/x-amz-json-1.0"}).Draw(t, "type"),
			Target:      rapid.SampledFrom([]string{"", "DynamoDB_20120810.UpdateItem"}).Draw(t, "target"),
			Length:      len(body), Payload: &payload, Now: sigv4.StampOf(now),
		}
		key := sigv4.NewKey(credentials, now.Format("20060102"), "eu-central-1", "dynamodb")
		sent, err := http.NewRequestWithContext(context.Background(), r.Method, "https://"+r.Host, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		sent.URL.Path, sent.URL.RawPath = unescaped(t, string(r.Path)), string(r.Path)
		headers := s.AppendHeader(nil, key, r)
		var got string
		for line := range strings.Lines(string(headers)) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
			switch name {
			case "Authorization":
				got = value
			case "Content-Type", "X-Amz-Target":
				sent.Header.Set(name, value)
			}
		}
		if err := v4.NewSigner().SignHTTP(context.Background(), credentials, sent, string(payload[:]), "dynamodb", "eu-central-1", now); err != nil {
			t.Fatal(err)
		}
		if want := sent.Header.Get("Authorization"); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func unescaped(t *rapid.T, path string) string {
	plain, err := url.PathUnescape(path)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestAKeyIsThatOfTheDayAndTheCredentials(t *testing.T) {
	t.Parallel()
	credentials := known
	ring := sigv4.Keyring{Service: "dynamodb", Region: "eu-central-1", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return credentials, nil
	})}
	at := func(now time.Time) *sigv4.Key {
		key, err := ring.At(t.Context(), sigv4.StampOf(now))
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	first := at(noon)
	if at(noon.Add(time.Hour)) != first {
		t.Error("the same day has another key")
	}
	next := at(noon.Add(24 * time.Hour))
	if next == first {
		t.Error("the next day has the same key")
	}
	credentials.SessionToken = "fresh"
	if at(noon.Add(24*time.Hour)) == next {
		t.Error("other credentials have the same key")
	}
}

func BenchmarkAppendHeader(b *testing.B) {
	key := sigv4.NewKey(known, "20260304", "eu-central-1", "dynamodb")
	payload := sigv4.PayloadOf([]byte("{}"))
	var s sigv4.Signer
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = s.AppendHeader(out[:0], key, sigv4.Request{
			Method: "POST", Path: []byte("/"), Host: "dynamodb.eu-central-1.amazonaws.com", ContentType: "application/x-amz-json-1.0",
			Target: "DynamoDB_20120810.UpdateItem", Length: 2, Payload: &payload, Now: sigv4.StampOf(noon),
		})
	}
}
