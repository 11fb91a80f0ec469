package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

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
