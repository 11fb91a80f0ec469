package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// rows is a body as data endpoints give it, of about size bytes.
func rows(size int) string {
	var b bytes.Buffer
	b.WriteByte('[')
	for b.Len() < size {
		fmt.Fprintf(&b, `{"coin":"BTC","px":"%d.5","sz":"0.001","side":"A","time":1700000000000,"hash":"0x00"},`, b.Len())
	}
	b.Truncate(b.Len() - 1)
	b.WriteByte(']')
	return b.String()
}

// FuzzProxyAnswer holds the reader of answers against encoding/json: what one
// takes the other takes, and both read the same body.
func FuzzProxyAnswer(f *testing.F) {
	for _, answer := range []string{
		`{"statusCode":200,"headers":{"a":"b","n":1},"multiValueHeaders":{"c":["d",true]},"body":"x\"\u00e9\ud83d\ude00\/","isBase64Encoded":false}`,
		`{"statusCode":"404","body":null,"headers":null} `,
		"{\"statusCode\":200,\"body\":\"\\ud83d\\n\\ud83dx\\udc00\"}",
		`{"statusCode":2e2}`, `{"statusCode":200,}`, `{"statusCode":200}x`, `{"statusCode":-0.1e+5,"body":"AAA=","isBase64Encoded":true}`,
		`[`, `{"body":"`, `{"body":"\u12`, `{"statusCode":200,"headers":{"a":[]}}`, "{\"statusCode\":200,\"body\":\"\xff\"}",
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		out, err := parseProxyAnswer(answer)
		var oracle map[string]json.RawMessage
		valid := json.Unmarshal(answer, &oracle) == nil && oracle != nil
		if err != nil {
			// A refused answer is one that even a lenient reader takes for another shape.
			var shape events.APIGatewayProxyResponse
			strict := json.NewDecoder(bytes.NewReader(answer))
			strict.DisallowUnknownFields()
			if valid && strict.Decode(&shape) == nil && shape.StatusCode >= 200 && shape.StatusCode < 600 && !shape.IsBase64Encoded && sameKeys(oracle) {
				t.Errorf("%q was refused: %v", answer, err)
			}
			return
		}
		if !valid {
			t.Fatalf("%q was taken, and is not a JSON object", answer)
		}
		var body string
		if raw := oracle["body"]; raw != nil && json.Unmarshal(raw, &body) != nil {
			t.Fatalf("%q was taken, and its body is no string", answer)
		}
		if string(oracle["isBase64Encoded"]) != "true" && utf8.Valid(answer) && body != string(out.body) {
			t.Errorf("%q: body %q, want %q", answer, out.body, body)
		}
	})
}

// sameKeys is false where a key differs in case from the one that AWS knows:
// encoding/json takes it nevertheless.
func sameKeys(answer map[string]json.RawMessage) bool {
	for key := range answer {
		switch key {
		case "statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded":
		default:
			return false
		}
	}
	return true
}

// BenchmarkProxyAnswer reads function answers with bodies of two sizes.
func BenchmarkProxyAnswer(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		answer, err := json.Marshal(events.APIGatewayProxyResponse{StatusCode: 200, Body: rows(size),
			MultiValueHeaders: map[string][]string{"Content-Type": {"application/json"}, "X-Request-Id": {"1"}, "Ratelimit": {"60"}}})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("body=%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(answer)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseProxyAnswer(answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
