package orders

import (
	"testing"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
)

func TestStoredOrders(t *testing.T) {
	var last store.Row // its key and order are not in the body
	datasettest.Codec[market.OrderStatus]{
		Values: markettest.Order(),
		Encode: func(s market.OrderStatus) []byte {
			last = row(&s)
			return last.Body
		},
		Decode: func(body []byte) (market.OrderStatus, error) {
			r := last
			r.Body = body
			return Decode(r)
		},
	}.Test(t)
}
