package events_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/cfn"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// account is the KMS and the SSM of an account, and takes the answers to
// CloudFormation.
type account struct {
	*calls

	mu        sync.Mutex
	parameter string
	answers   []cfn.Response
}

// rightsFor are the actions to which a request needs the right, and on what.
var rightsFor = map[string][]string{
	"GenerateDataKeyWithoutPlaintext": {"kms SecretsKey", "GenerateDataKeyWithoutPlaintext"},
	"ReEncrypt":                       {"kms SecretsKey", "ReEncryptFrom", "ReEncryptTo"},
	"GetParameter":                    {"ssm parameter/quotary/prod/data-keys", "GetParameter"},
	"PutParameter":                    {"ssm parameter/quotary/prod/data-keys", "PutParameter"},
	"DeleteParameter":                 {"ssm parameter/quotary/prod/data-keys", "DeleteParameter"},
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Method == http.MethodPut {
		var answer cfn.Response
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a.answers = append(a.answers, answer)
		return
	}
	var in struct{ Value string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	rights := rightsFor[action]
	if rights == nil {
		rights = []string{"something", action}
	}
	for _, right := range rights[1:] {
		a.note(r.PathValue("function"), rights[0], right)
	}
	var out any = map[string]any{"CiphertextBlob": []byte("wrapped"), "Version": 1}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	switch action {
	case "GetParameter":
		if a.parameter == "" {
			w.WriteHeader(http.StatusBadRequest)
			out = map[string]string{"__type": "ParameterNotFound"}
			break
		}
		out = map[string]any{"Parameter": map[string]string{"Value": a.parameter}}
	case "PutParameter":
		a.parameter = in.Value
	case "DeleteParameter":
		a.parameter = ""
	}
	_ = json.NewEncoder(w).Encode(out)
}

// dataKey has the function answer its sample, and what CloudFormation asks for
// later. The address that it answers to is that of the account.
func (d *deployment) dataKey(t *testing.T) {
	t.Helper()
	text := sample(t, catalog.FunctionDataKey)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var delivery struct {
		cfn.Event
		ServiceToken string // CloudFormation sends it, and the type does not know it
	}
	must.Do(t, decoder.Decode(&delivery))
	event := delivery.Event
	if event.RequestType != cfn.RequestCreate || event.ResourceProperties["ServiceToken"] != delivery.ServiceToken || !strings.HasPrefix(event.ResponseURL, "https://") {
		t.Errorf("the sample is %+v", event)
	}
	event.ResponseURL = d.way + "/aws/" + catalog.FunctionDataKey + "/"
	for _, step := range []struct {
		request cfn.RequestType
		id      string
	}{
		{cfn.RequestCreate, "made /quotary/prod/data-keys"},
		{cfn.RequestCreate, "found /quotary/prod/data-keys"}, // Lambda repeats an event whose answer was lost
		{cfn.RequestDelete, "made /quotary/prod/data-keys"},
	} {
		event.RequestType = step.request
		if step.request == cfn.RequestDelete {
			event.PhysicalResourceID = step.id
		}
		text := must.Get(json.Marshal(event))(t)
		if answer, err := d.invoke(t, catalog.FunctionDataKey, text); err != nil || string(answer) != "null" {
			t.Errorf("datakey: %s, %v", answer, err)
		}
	}
	d.account.mu.Lock()
	defer d.account.mu.Unlock()
	if len(d.answers) != 3 || d.parameter != "" {
		t.Fatalf("datakey: answers %+v, the parameter is %q", d.answers, d.parameter)
	}
	for i, id := range []string{"made /quotary/prod/data-keys", "found /quotary/prod/data-keys", "made /quotary/prod/data-keys"} {
		if a := d.answers[i]; a.Status != cfn.StatusSuccess || a.PhysicalResourceID != id || a.RequestID != event.RequestID || a.LogicalResourceID != "DataKey" {
			t.Errorf("datakey: answer %+v", a)
		}
	}
}
