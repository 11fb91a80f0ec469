package lambdahost_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// sdk is Amazon's own client, speaking to h.
func sdk(t *testing.T, h *lambdahost.Host) *lambda.Client {
	t.Helper()
	server := httptest.NewServer(h.InvokeAPI())
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return lambda.New(lambda.Options{
		Region:           "us-east-1",
		BaseEndpoint:     aws.String(server.URL),
		Credentials:      credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:       &http.Client{Transport: transport},
		RetryMaxAttempts: 1,
	})
}

func TestTheSDKInvokesAFunctionByNameOrARN(t *testing.T) {
	t.Parallel()
	client := sdk(t, host(t))
	for _, name := range []string{"probe", "arn:aws:lambda:us-east-1:000000000000:function:probe", "probe:$LATEST"} {
		out, err := client.Invoke(context.Background(), &lambda.InvokeInput{
			FunctionName: &name, Payload: []byte(`{"text":"hello"}`),
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var s sight
		if err := json.Unmarshal(out.Payload, &s); err != nil || s.Text != "hello" {
			t.Errorf("%s: payload = %s", name, out.Payload)
		}
		if out.StatusCode != http.StatusOK || out.FunctionError != nil || aws.ToString(out.ExecutedVersion) != "$LATEST" {
			t.Errorf("%s: %d %v %v", name, out.StatusCode, out.FunctionError, out.ExecutedVersion)
		}
	}
}

func TestTheSDKSeesAFunctionError(t *testing.T) {
	t.Parallel()
	out := must.Get(sdk(t, host(t)).Invoke(context.Background(), &lambda.InvokeInput{
		FunctionName: aws.String("probe"), Payload: []byte(`{"do":"fail","text":"no luck"}`),
	}))(t)
	if aws.ToString(out.FunctionError) != "Unhandled" || out.StatusCode != http.StatusOK {
		t.Errorf("function error %v with status %d", out.FunctionError, out.StatusCode)
	}
	if want := `{"errorMessage":"no luck","errorType":"errorString"}`; string(out.Payload) != want {
		t.Errorf("payload = %s, want %s", out.Payload, want)
	}
}

func TestTheSDKSeesWhyItWasRefused(t *testing.T) {
	t.Parallel()
	client := sdk(t, host(t, with(function(func(f *lambdahost.Function) { f.MaxQueue = -1 }))))
	invoke := func(name, payload string, kind types.InvocationType) error {
		_, err := client.Invoke(context.Background(), &lambda.InvokeInput{
			FunctionName: &name, Payload: []byte(payload), InvocationType: kind,
		})
		return err
	}
	if notFound := new(types.ResourceNotFoundException); !errors.As(invoke("nobody", "{}", ""), &notFound) ||
		aws.ToString(notFound.Type) != "User" || notFound.ErrorMessage() != "Function not found: nobody" {
		t.Errorf("unknown function: %v", notFound)
	}
	if bad := new(types.InvalidRequestContentException); !errors.As(invoke("probe", "not JSON", ""), &bad) {
		t.Error("a payload that is not JSON was not refused as such")
	}
	if busy := new(types.TooManyRequestsException); !errors.As(invoke("probe", "{}", ""), &busy) {
		t.Error("a full queue was not reported as throttling")
	}
	if bad := new(types.InvalidParameterValueException); !errors.As(invoke("probe", "{}", "Someday"), &bad) {
		t.Error("an unknown invocation type was not refused")
	}
	if large := new(types.RequestTooLargeException); !errors.As(invoke("probe", `"`+strings.Repeat("x", lambdahost.MaxPayload)+`"`, ""), &large) {
		t.Error("a payload over the limit was not refused as such")
	}
}

func TestAnEventInvocationIsAcceptedAndRuns(t *testing.T) {
	t.Parallel()
	logs := new(lockedBuffer)
	h := host(t, func(c *lambdahost.Config) { c.Logs = logs })
	out, err := sdk(t, h).Invoke(context.Background(), &lambda.InvokeInput{
		FunctionName: aws.String("probe"), InvocationType: types.InvocationTypeEvent,
		Payload: []byte(`{"do":"print","text":"seen"}`),
	})
	if err != nil || out.StatusCode != http.StatusAccepted || len(out.Payload) != 0 {
		t.Fatalf("out = %+v, error = %v", out, err)
	}
	testenv.Until(t, "the function runs", func() bool { return strings.Contains(logs.String(), "seen\n") })
}

func TestADryRunStartsNothing(t *testing.T) {
	t.Parallel()
	h := host(t, with(lambdahost.Function{Path: "/does/not/exist"}))
	out, err := sdk(t, h).Invoke(context.Background(), &lambda.InvokeInput{
		FunctionName: aws.String("probe"), InvocationType: types.InvocationTypeDryRun,
	})
	if err != nil || out.StatusCode != http.StatusNoContent {
		t.Errorf("out = %+v, error = %v", out, err)
	}
}
