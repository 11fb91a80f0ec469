package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/google/go-cmp/cmp"

	"quotary/shared/gate/keys"
	"quotary/shared/testing/must"
)

const (
	ours      = "arn:aws:kms:eu-west-1:123456789012:key/ours"
	theirs    = "arn:aws:kms:eu-west-1:123456789012:key/theirs"
	parameter = "/quotary/test/data-keys"
)

// account is KMS, SSM and the place where CloudFormation waits, as far as the
// function knows them.
type account struct {
	mu      sync.Mutex
	value   string // of the parameter, "" where there is none
	denials int    // requests that are refused for want of a right
	refused string // action that always is
	deaf    int    // answers that are not taken
	asked   []string
	answers []cfn.Response
}

// wrap is what the account's KMS makes of a key's name and an encryption context.
func wrap(key string, context map[string]string) []byte {
	return []byte(strings.Join([]string{key, context[keys.DataKeyContext]}, " "))
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Method == http.MethodPut {
		a.answer(w, r)
		return
	}
	var in struct {
		Name, Value, Type, KeyId, KeySpec, SourceKeyId, DestinationKeyId         string
		Overwrite                                                                bool
		CiphertextBlob                                                           []byte
		EncryptionContext, SourceEncryptionContext, DestinationEncryptionContext map[string]string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	a.asked = append(a.asked, action)
	fail := func(kind string) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": "why"})
	}
	reply := func(body any) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(body)
	}
	if a.denials > 0 || action == a.refused {
		a.denials--
		fail("AccessDeniedException")
		return
	}
	switch action {
	case "GetParameter":
		if a.value == "" || in.Name != parameter {
			fail("ParameterNotFound")
			return
		}
		reply(map[string]any{"Parameter": map[string]string{"Name": in.Name, "Value": a.value}})
	case "PutParameter":
		if a.value != "" || in.Overwrite || in.Type != "String" {
			fail("ParameterAlreadyExists")
			return
		}
		a.value = in.Value
		reply(map[string]any{"Version": 1})
	case "DeleteParameter":
		if a.value == "" {
			fail("ParameterNotFound")
			return
		}
		a.value = ""
		reply(map[string]any{})
	case "GenerateDataKeyWithoutPlaintext":
		if in.KeySpec != "AES_256" {
			fail("ValidationException")
			return
		}
		reply(map[string]any{"CiphertextBlob": wrap(in.KeyId, in.EncryptionContext), "KeyId": in.KeyId})
	case "ReEncrypt":
		if !bytes.Equal(in.CiphertextBlob, wrap(in.SourceKeyId, in.SourceEncryptionContext)) {
			fail("IncorrectKeyException")
			return
		}
		reply(map[string]any{"CiphertextBlob": wrap(in.DestinationKeyId, in.DestinationEncryptionContext)})
	case "Decrypt":
		if !bytes.Equal(in.CiphertextBlob, wrap(ours, in.EncryptionContext)) {
			fail("InvalidCiphertextException")
			return
		}
		reply(map[string]any{"Plaintext": bytes.Repeat([]byte{1}, 32)})
	default:
		fail("UnknownOperationException")
	}
}

func (a *account) answer(w http.ResponseWriter, r *http.Request) {
	if a.deaf > 0 {
		a.deaf--
		http.Error(w, "", http.StatusServiceUnavailable)
		return
	}
	var answer cfn.Response
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || r.URL.Query().Get("Signature") != "s3cret" || r.Header.Get("Content-Type") != "" {
		http.Error(w, "", http.StatusForbidden)
		return
	}
	a.answers = append(a.answers, answer)
}

// world is a function in an account.
type world struct {
	*account
	maker *maker
	url   string
	log   bytes.Buffer
}

func newWorld(t *testing.T, value string) *world {
	t.Helper()
	w := &world{account: &account{value: value}}
	server := httptest.NewServer(w.account)
	t.Cleanup(server.Close)
	w.url = server.URL + "/answer?Signature=s3cret"
	config := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	w.maker = &maker{
		kms: kms.NewFromConfig(config), ssm: ssm.NewFromConfig(config), key: ours, parameter: parameter,
		patience: 400 * time.Millisecond, log: slog.New(slog.NewJSONHandler(&w.log, nil)),
	}
	return w
}

func (w *world) event(request cfn.RequestType, id string) cfn.Event {
	return cfn.Event{
		RequestType: request, RequestID: "request", ResponseURL: w.url, ResourceType: "Custom::DataKey",
		LogicalResourceID: "DataKey", StackID: "stack", PhysicalResourceID: id,
	}
}

// invoke has the function answer one event.
func (w *world) invoke(t *testing.T, request cfn.RequestType, id string) cfn.Response {
	t.Helper()
	must.Do(t, w.maker.invoke(t.Context(), w.event(request, id)))
	if len(w.answers) != 1 {
		t.Fatalf("%d answers", len(w.answers))
	}
	answer := w.answers[0]
	w.answers = nil
	if answer.RequestID != "request" || answer.LogicalResourceID != "DataKey" || answer.StackID != "stack" {
		t.Errorf("the answer is to %+v", answer)
	}
	return answer
}

// stored is a parameter with data keys of a key.
func stored(key string, ids ...string) string {
	all := map[string][]byte{}
	for _, id := range ids {
		all[id] = wrap(key, bound(id))
	}
	text, err := json.Marshal(keys.DataKeys{Current: ids[0], Keys: all})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestTheFirstDataKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	if got := w.invoke(t, cfn.RequestCreate, ""); got.Status != cfn.StatusSuccess || got.PhysicalResourceID != "made "+parameter {
		t.Errorf("answered %+v", got)
	}
	if w.value != stored(ours, "k1") {
		t.Errorf("the parameter is %s", w.value)
	}
	if got := w.invoke(t, cfn.RequestCreate, ""); got.Status != cfn.StatusSuccess || got.PhysicalResourceID != "found "+parameter {
		t.Errorf("the second time answered %+v", got)
	}
	if w.value != stored(ours, "k1") {
		t.Errorf("the second time the parameter is %s", w.value)
	}
	if log := w.log.String(); strings.Contains(log, "s3cret") || strings.Contains(log, base64.StdEncoding.EncodeToString(wrap(ours, bound("k1")))) {
		t.Errorf("the log is %s", log)
	}
}

func TestDataKeysThatAreThereAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ value, reason string }{
		"ours":              {stored(ours, "k2", "k1"), ""},
		"another key's":     {stored(theirs, "k1"), "was not wrapped by the key of this deployment"},
		"no data keys":      {"something", "holds no data keys"},
		"without a current": {`{"current":"k9","keys":{}}`, `lacks its current data key "k9"`},
		"under another id":  {strings.ReplaceAll(stored(ours, "k1"), "k1", "k2"), `the data key "k2"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.value)
			got := w.invoke(t, cfn.RequestCreate, "")
			if want := map[bool]cfn.StatusType{true: cfn.StatusSuccess, false: cfn.StatusFailed}[c.reason == ""]; got.Status != want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("answered %+v", got)
			}
			if got.PhysicalResourceID == "" {
				t.Error("the answer has no id")
			}
			// What follows a failure, and the end of the stack.
			if w.invoke(t, cfn.RequestDelete, got.PhysicalResourceID).Status != cfn.StatusSuccess || w.value != c.value {
				t.Errorf("the parameter is %q", w.value)
			}
		})
	}
}

func TestWhatWasMadeGoesWithItsStack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	id := w.invoke(t, cfn.RequestCreate, "").PhysicalResourceID
	if got := w.invoke(t, cfn.RequestUpdate, id); got.Status != cfn.StatusSuccess || got.PhysicalResourceID != id || w.value == "" {
		t.Errorf("an update is answered %+v", got)
	}
	for range 2 { // an event may come twice
		if got := w.invoke(t, cfn.RequestDelete, id); got.Status != cfn.StatusSuccess || got.PhysicalResourceID != id || w.value != "" {
			t.Errorf("answered %+v", got)
		}
	}
	if got := w.invoke(t, "Mend", id); got.Status != cfn.StatusFailed {
		t.Errorf("an unknown request is answered %+v", got)
	}
}

func TestRightsMayBeLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.denials = 5
	if got := w.invoke(t, cfn.RequestCreate, ""); got.Status != cfn.StatusSuccess || w.value == "" {
		t.Errorf("answered %+v after %q", got, w.asked)
	}
	unsure := newWorld(t, stored(ours, "k1"))
	unsure.refused = "ReEncrypt"
	if got := unsure.invoke(t, cfn.RequestCreate, ""); got.Status != cfn.StatusFailed || !strings.Contains(got.Reason, `make sure of the data key "k1"`) {
		t.Errorf("who cannot make sure of the key answers %+v", got)
	}
	never := newWorld(t, "")
	never.denials = 1 << 20
	if got := never.invoke(t, cfn.RequestCreate, ""); got.Status != cfn.StatusFailed || !strings.Contains(got.Reason, "AccessDenied") || len(never.asked) > 60 {
		t.Errorf("answered %+v after %q", got, never.asked)
	}
}

func TestTheAnswerIsSentUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.deaf = 1
	if got := w.invoke(t, cfn.RequestCreate, ""); got.Status != cfn.StatusSuccess {
		t.Errorf("answered %+v", got)
	}
	for name, url := range map[string]string{
		"nobody listens": "http://127.0.0.1:1/answer?Signature=s3cret",
		"malformed":      "http://[::1/answer?Signature=s3cret",
		"refused":        strings.Replace(w.url, "s3cret", "s3cret2", 1),
	} {
		ctx, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
		event := w.event(cfn.RequestUpdate, "id")
		event.ResponseURL = url
		if err := w.maker.invoke(ctx, event); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error %v", name, err)
		}
		done()
	}
	if strings.Contains(w.log.String(), "s3cret") {
		t.Errorf("the log is %s", w.log.String())
	}
}

// The programs that start with the parameter open what the function has made.
func TestTheMadeDataKeyOpensARing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.invoke(t, cfn.RequestCreate, "")
	ring := must.Get(keys.OpenRing(t.Context(), keys.KMS(w.maker.kms, w.value)))(t)
	if diff := cmp.Diff(`key ring of 1 data keys, current "k1"`, ring.String()); diff != "" {
		t.Error(diff)
	}
}
