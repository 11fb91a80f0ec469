package orders

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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

// One row that cannot be read costs an account all its orders.
func TestWhatACheckOfAnOrderAcceptsIsStoredAndReadAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := markettest.Order().Draw(t, "order")
		text := func(of *string, name string) {
			if rapid.Bool().Draw(t, name+" is foreign") {
				*of = markettest.Foreign().Draw(t, name)
			}
		}
		text(&s.Status, "status")
		text(&s.Coin, "coin")
		text(&s.TriggerCondition, "condition")
		text(&s.TriggerPx, "trigger px")
		text(&s.OrderType, "type")
		text(&s.Tif, "tif")
		text(&s.Cloid, "cloid")
		s.Children = markettest.ForeignJSON().Draw(t, "children")
		if s.Check() != nil {
			return
		}
		once := s
		if err := s.Check(); err != nil {
			t.Fatalf("%v: %+v", err, s)
		}
		again, err := Decode(row(&s))
		if err != nil {
			t.Fatalf("%v: %s", err, row(&s).Body)
		}
		if diff := cmp.Diff(once, s); diff != "" {
			t.Fatalf("(-accepted +accepted again):\n%s", diff)
		}
		if diff := cmp.Diff(row(&s), row(&again)); diff != "" {
			t.Fatalf("(-stored +read):\n%s", diff)
		}
	})
}
