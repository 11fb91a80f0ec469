package gateway

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/testing/must"
)

const arn = "arn:aws:execute-api:us-east-1:000000000000:local00000/api/GET/hl/fills/0x1"

func TestAPolicyAllowsWhatItAllowsAndDoesNotDeny(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		statement string
		allowed   bool
	}{
		"the method itself":          {`{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"` + arn + `"}`, true},
		"a list":                     {`[{"Effect":"Allow","Action":["execute-api:Invoke"],"Resource":["x","` + arn + `"]}]`, true},
		"everything":                 {`[{"Effect":"Allow","Action":"*","Resource":"*"}]`, true},
		"any action of the service":  {`[{"Effect":"Allow","Action":"Execute-API:*","Resource":"*"}]`, true},
		"every GET of the stage":     {`[{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"arn:aws:execute-api:*:*:local00000/api/GET/*"}]`, true},
		"a question mark":            {`[{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"arn:*/hl/fills/0x?"}]`, true},
		"every POST":                 {`[{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"arn:*/api/POST/*"}]`, false},
		"another action":             {`[{"Effect":"Allow","Action":"execute-api:ManageConnections","Resource":"*"}]`, false},
		"another case":               {`[{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"` + strings.ToUpper(arn) + `"}]`, false},
		"the beginning of the ARN":   {`[{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"arn:aws:execute-api"}]`, false},
		"a denial":                   {`[{"Effect":"Deny","Action":"execute-api:Invoke","Resource":"*"}]`, false},
		"a denial after all allowed": {`[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"*","Resource":"` + arn + `"}]`, false},
		"a denial before":            {`[{"Effect":"Deny","Action":"*","Resource":"*"},{"Effect":"Allow","Action":"*","Resource":"*"}]`, false},
		"a denial of something else": {`[{"Effect":"Deny","Action":"*","Resource":"arn:other"},{"Effect":"Allow","Action":"*","Resource":"*"}]`, true},
	}
	for name, tt := range tests {
		_, p, err := parseAuthorizerAnswer([]byte(`{"principalId":"p","policyDocument":{"Version":"2012-10-17","Statement":` + tt.statement + `}}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := p.decide("execute-api:Invoke", arn); got != tt.allowed {
			t.Errorf("%s: allowed = %v, want %v", name, got, tt.allowed)
		}
	}
}

func TestAPolicyThatWouldBeMisreadIsRefused(t *testing.T) {
	t.Parallel()
	document := func(policy string) string { return `{"principalId":"p","policyDocument":` + policy + `}` }
	for name, answer := range map[string]string{
		"no principal":    `{"policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}}`,
		"no policy":       `{"principalId":"p"}`,
		"no statement":    document(`{"Statement":[]}`),
		"null statement":  document(`{"Statement":null}`),
		"no effect":       document(`{"Statement":[{"Action":"*","Resource":"*"}]}`),
		"unknown effect":  document(`{"Statement":[{"Effect":"Maybe","Action":"*","Resource":"*"}]}`),
		"no resource":     document(`{"Statement":[{"Effect":"Allow","Action":"*"}]}`),
		"no action":       document(`{"Statement":[{"Effect":"Allow","Resource":"*"}]}`),
		"a condition":     document(`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"IpAddress":{}}}]}`),
		"a negation":      document(`{"Statement":[{"Effect":"Allow","Action":"*","NotResource":"x","Resource":"*"}]}`),
		"a null context":  `{"principalId":"p","policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]},"context":{"a":null}}`,
		"a list in it":    `{"principalId":"p","policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]},"context":{"a":[1]}}`,
		"an object in it": `{"principalId":"p","policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]},"context":{"a":{}}}`,
		"a number":        `7`,
	} {
		if _, _, err := parseAuthorizerAnswer([]byte(answer)); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}

func TestContextValuesArePassedAsText(t *testing.T) {
	t.Parallel()
	given, _ := must.Get2(parseAuthorizerAnswer([]byte(`{"principalId":"p","policyDocument":{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}},
		"context":{"s":"a\"b","n":1.50,"big":12345678901234567890,"yes":true}}`)))(t)
	for key, want := range map[string]string{"s": `a"b`, "n": "1.50", "big": "12345678901234567890", "yes": "true"} {
		if given.context[key] != want {
			t.Errorf("%s = %q, want %q", key, given.context[key], want)
		}
	}
}

func TestGlobAgreesWithARegularExpression(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("ab/*?.")), 0, 12, -1).Draw(t, "pattern")
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab/.")), 0, 12, -1).Draw(t, "text")
		expression := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		want := regexp.MustCompile(`^(?s:` + expression + `)$`).MatchString(s)
		if got := glob(pattern, s); got != want {
			t.Fatalf("glob(%q, %q) = %v, want %v", pattern, s, got, want)
		}
	})
}

func TestAHostilePatternIsMatchedInReasonableTime(t *testing.T) {
	t.Parallel()
	done := make(chan bool, 1)
	go func() { done <- glob(strings.Repeat("*a", 2000)+"b", strings.Repeat("a", 4000)) }()
	select {
	case matched := <-done:
		if matched {
			t.Error("matched")
		}
	case <-time.After(5 * time.Minute):
		t.Error("not done after five minutes")
	}
}

func FuzzAuthorizerAnswer(f *testing.F) {
	f.Add([]byte(`{"principalId":"p","policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":["*"]}]},"context":{"a":1}}`))
	f.Add([]byte(`{"principalId":"p","policyDocument":{"Statement":null},"context":null}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		given, p, err := parseAuthorizerAnswer(answer)
		if err != nil {
			return
		}
		p.decide("execute-api:Invoke", arn)
		if given.principal == "" || !json.Valid(answer) {
			t.Errorf("taken: %q", answer)
		}
	})
}
