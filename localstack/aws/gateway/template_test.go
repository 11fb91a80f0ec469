package gateway

import (
	"encoding/json"
	"testing"
)

func TestATemplateShowsItsVariables(t *testing.T) {
	t.Parallel()
	values := map[string]string{"requestId": "id-1", "error.message": `say "no"`, "authorizer.code": "40301", "authorizer.yes": "true",
		"authorizer.text": "plain", "authorizer.tricky": `{"a":1}`, "authorizer.empty": ""}
	lookup := func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	for template, want := range map[string]string{
		`{"message":$context.error.messageString}`:                 `{"message":"say \"no\""}`,
		`{"message":"$context.error.messageString"}`:               `{"message":"say \"no\""}`,
		`{"message":"It says: $context.error.message."}`:           `{"message":"It says: say \"no\"."}`,
		`{"id":"$context.requestId","c":$context.authorizer.code}`: `{"id":"id-1","c":40301}`,
		`[$context.authorizer.yes,$context.authorizer.text]`:       `[true,"plain"]`,
		`[$context.authorizer.tricky,$context.authorizer.none]`:    `["{\"a\":1}",null]`,
		`["$context.authorizer.none",$context.authorizer.empty]`:   `["",""]`,
		`{"escaped \" $context.requestId":1}`:                      `{"escaped \" id-1":1}`,
		`{"price":"$5 $context $contextual"}`:                      `{"price":"$5 $context $contextual"}`,
	} {
		if got := string(compile(template).json(lookup)); got != want {
			t.Errorf("%s gives %s, want %s", template, got, want)
		}
	}
}

func TestATemplateThatIsNotJSONIsRefused(t *testing.T) {
	t.Parallel()
	for _, template := range []string{`{"message":}`, `{"message":"$context.requestId}`, `$context.requestId$context.stage`, `plain`} {
		if err := compile(template).validate(); err == nil {
			t.Errorf("%s was taken", template)
		}
	}
	if _, err := New(Config{Functions: noFunctions{}, Responses: []Response{{Type: "THROTTLED", Template: `{`}}}); err == nil {
		t.Error("New took a template that is not JSON")
	}
}

func TestNoValueBreaksAHeader(t *testing.T) {
	t.Parallel()
	got := compile("id=$context.requestId").text(func(string) (string, bool) { return "a\r\nSet-Cookie: b\x00", true })
	if want := "id=aSet-Cookie: b"; got != want {
		t.Errorf("header = %q, want %q", got, want)
	}
}

// FuzzTemplate: whatever the values are, a template that was accepted gives JSON.
func FuzzTemplate(f *testing.F) {
	f.Add(`{"a":"$context.requestId","b":$context.authorizer.x}`, `"\`, true)
	f.Add(`[$context.error.messageString,"$context.error.message"]`, "\xff\n", true)
	f.Add(`{"$context.stage\\":$context.stage}`, "1e5", false)
	f.Fuzz(func(t *testing.T, text, value string, found bool) {
		compiled := compile(text)
		if compiled.validate() != nil {
			return
		}
		if body := compiled.json(func(string) (string, bool) { return value, found }); !json.Valid(body) {
			t.Errorf("template %q with %q (%v) gives %q", text, value, found, body)
		}
	})
}
