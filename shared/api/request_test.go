package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/gate/signature"
)

func TestASignatureIsFoundWhereverItStandsInABody(t *testing.T) {
	t.Parallel()
	const signed = `"AccessKeyId":"k","SignatureNonce":17,"Timestamp":"1790000000","Signature":"s"`
	addresses := strings.Repeat(`"0x8cdba352268065be9d5444e1f82b8fe83717bbd5",`, 1999) + `"0x8cdba352268065be9d5444e1f82b8fe83717bbd5"`
	want := signature.Params{AccessKeyID: "k", Nonce: "17", Timestamp: "1790000000", Signature: "s"}
	for name, tt := range map[string]struct {
		body string
		want signature.Params
		ok   bool
	}{
		"alone":                            {"{" + signed + "}", want, true},
		"before 2,000 addresses":           {"{" + signed + `,"addresses":[` + addresses + "]}", want, true},
		"behind 2,000 addresses":           {`{"addresses":[` + addresses + "]," + signed + "}", want, true},
		"behind a megabyte":                {`{"x":"` + strings.Repeat("a", catalog.MaxBody-200) + `",` + signed + "}", want, true},
		"behind a nested value":            {` {"filters":[{"a":{"Signature":"no"}}],"b":-1.5e3,"c":null,` + signed + "}", want, true},
		"escaped":                          {`{"\u0041ccessKeyId":"\u006b","SignatureNonce":17,"Timestamp":"1790000000","Signature":"s"}`, want, true},
		"before what is no JSON":           {"{" + signed + ",", want, true},
		"behind as many members as may be": {"{" + strings.Repeat(`"a":1,`, maxMembers-4) + signed + "}", want, true},
		"behind a member more":             {"{" + strings.Repeat(`"a":1,`, maxMembers-3) + signed + "}", signature.Params{AccessKeyID: "k", Nonce: "17", Timestamp: "1790000000"}, false},
		"of other types":                   {`{"AccessKeyId":["k"],"SignatureNonce":{"a":1},"Timestamp":true,"Signature":null}`, signature.Params{}, true},
		"of no UTF-8":                      {"{\"AccessKeyId\":\"\xff\"}", signature.Params{AccessKeyID: "\xff"}, false},
		"not there":                        {`{"a":1}`, signature.Params{}, true},
		"in an empty body":                 {" ", signature.Params{}, true},
		"in a list":                        {"[" + signed + "]", signature.Params{}, false},
		"in half a body":                   {`{"AccessKeyId":"k"`, signature.Params{AccessKeyID: "k"}, false},
	} {
		if got, ok := signatureIn(tt.body); ok != tt.ok || got != tt.want {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
}

// Nobody has to have a key to send a body: until its signature is known it is read, and no more.
func TestAnUnsignedBodyCostsNoCopies(t *testing.T) {
	var many strings.Builder
	many.WriteString("{")
	for i := 0; many.Len() < catalog.MaxBody-30; i++ {
		fmt.Fprintf(&many, `"%x":1,`, i)
	}
	many.WriteString(`"x":1}`)
	for name, body := range map[string]string{
		"many members":         many.String(),
		"the same member":      "{" + strings.Repeat(`"a":1,`, 170_000) + `"b":1}`,
		"a list":               `{"a":[` + strings.Repeat("{},", 300_000) + "1]}",
		"members of an object": `{"a":` + many.String()[:catalog.MaxBody-40] + `:1}}`,
		"nested":               `{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}",
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		allocated := testing.AllocsPerRun(3, func() {
			r.Body = http.NoBody
			one := newRequest(r, time.Now())
			one.whole = &body
			_, _ = one.bodySignature()
		})
		if allocated > 100 {
			t.Errorf("%s: %.0f allocations", name, allocated)
		}
	}
}
