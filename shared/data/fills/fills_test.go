package fills

import (
	"iter"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestStoredFills(t *testing.T) {
	var last store.Row // its key and order are not in the body
	datasettest.Codec[market.Fill]{
		Values: markettest.Fill(),
		Encode: func(f market.Fill) []byte {
			last = row(&f)
			return last.Body
		},
		Decode: func(body []byte) (market.Fill, error) {
			r := last
			r.Body = body
			return Decode(r)
		},
		Use: func(f market.Fill) {
			f.Notional()
			f.EndPosition()
			f.Trade()
			combined := market.Combine(&f, market.MaxPricePlaces)
			_ = combined.Add(&f, true)
		},
	}.Test(t)
}

// One row that cannot be read costs an account all its fills.
func TestWhatACheckOfAFillAcceptsIsStoredAndReadAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := markettest.Fill().Draw(t, "fill")
		text := func(of *string, name string) {
			if rapid.Bool().Draw(t, name+" is foreign") {
				*of = markettest.Foreign().Draw(t, name)
			}
		}
		text(&f.Coin, "coin")
		text(&f.Dir, "dir")
		text(&f.Hash, "hash")
		text(&f.FeeToken, "token")
		text(&f.Cloid, "cloid")
		text(&f.Builder, "builder")
		text(&f.BuilderFee, "builder fee")
		if l := f.Liquidation; l != nil {
			text(&l.Method, "method")
			text(&l.MarkPx, "mark")
			text(&l.LiquidatedUser, "user")
		}
		if f.Check() != nil {
			return
		}
		once := f
		if l := f.Liquidation; l != nil {
			same := *l
			once.Liquidation = &same
		}
		if err := f.Check(); err != nil {
			t.Fatalf("%v: %+v", err, f)
		}
		again, err := Decode(row(&f))
		if err != nil {
			t.Fatalf("%v: %s", err, row(&f).Body)
		}
		if diff := cmp.Diff([]market.Fill{once, once}, []market.Fill{f, again}); diff != "" {
			t.Fatalf("(-accepted +accepted again, +read):\n%s", diff)
		}
	})
}

// The fill as the venue's hour has it takes the place of the provisional one, with its indexes, and keeps its arrival.
func TestAFillTakesThePlaceOfTheProvisionalOne(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	whole := market.Fill{Address: "0xa11ce00000000000000000000000000000000001", Coin: "BTC", Px: "1.5", Sz: "2", Side: market.Buy, Time: markettest.Base,
		StartPosition: "0.0", Dir: "Open Long", ClosedPnl: "0.0", Oid: 9, Tid: 100, Fee: "0.1", FeeToken: "USDC", Seq: 1, Hash: "0xab", Crossed: true, Arrived: market.Arrived{At: 999, Again: true}}
	trade := market.Trade{Coin: "BTC", Side: market.Buy, Px: must.Get(market.ParseDecimal("1.5"))(t), Sz: must.Get(market.ParseDecimal("2"))(t), Time: whole.Time, Tid: 100, Hash: "0xab", Users: [2]string{whole.Address, ""}}
	list := market.AppendProvisional(nil, []market.Trade{trade})
	list[0].Arrived.At = 500
	storetest.PutLog(t, log, Name, AppendRows, list...)
	read := func(of iter.Seq2[market.Fill, error]) (all []market.Fill) {
		for f := range must.All(t, of) {
			all = append(all, f)
		}
		return all
	}
	ctx := t.Context()
	if diff := cmp.Diff(list, read(Newest(ctx, log, whole.Address, "BTC", 0))); diff != "" {
		t.Errorf("the provisional one (-put +read):\n%s", diff)
	}
	if got := slices.Concat(read(ByOrder(ctx, log, 0, time.Time{})), read(Confirmed(Newest(ctx, log, whole.Address, "", 0), 9))); len(got) != 0 {
		t.Errorf("it is found by an order, or as confirmed: %+v", got)
	}
	other := whole
	other.Tid = 101
	if got := must.Get(Arrivals(ctx, log, []market.Fill{whole, other}))(t); got[0] != (store.StoredArrival{Stored: true, Arrival: 500}) || got[1] != (store.StoredArrival{}) {
		t.Errorf("stored are %+v", got)
	}
	storetest.PutLog(t, log, Name, AppendRows, whole)
	whole.Arrived = market.Arrived{At: 500}
	for name, got := range map[string][]market.Fill{"of the account": read(Newest(ctx, log, whole.Address, "", 0)), "of the order": read(ByOrder(ctx, log, 9, time.Time{}))} {
		if diff := cmp.Diff([]market.Fill{whole}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAFillIsFoundByWhatNamesIt(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	twap := int64(77)
	fill := func(n int64) market.Fill {
		return market.Fill{Address: "0xa11ce00000000000000000000000000000000001", Coin: "BTC", Px: "1.5", Sz: "2.0", Side: market.Buy, Time: markettest.Base + n,
			StartPosition: "0.0", Dir: "Buy", ClosedPnl: "0.0", Oid: 9, Tid: 100 + n, Fee: "0.1", FeeToken: "USDC", Seq: n + 1}
	}
	plain, routed, sliced, other := fill(0), fill(1), fill(2), fill(3)
	routed.Builder = "0xb111de4000000000000000000000000000000003"
	sliced.TwapID, sliced.Coin = &twap, "@107"
	other.Address, other.Oid = "0xb0b0000000000000000000000000000000000002", 10
	list := []market.Fill{plain, routed, sliced, other}
	if missing, err := Missing(t.Context(), log, list); err != nil || missing != 4 {
		t.Errorf("%d are missing before they are stored, error %v", missing, err)
	}
	storetest.PutLog(t, log, Name, AppendRows, list[:3]...)
	if missing, err := Missing(t.Context(), log, list); err != nil || missing != 1 {
		t.Errorf("%d are missing, error %v", missing, err)
	}
	storetest.PutLog(t, log, Name, AppendRows, list...)
	ctx, alice := t.Context(), plain.Address
	for name, c := range map[string]struct {
		found func(yield func(market.Fill, error) bool)
		want  []market.Fill
	}{
		"an account":             {Newest(ctx, log, alice, "", 0), []market.Fill{sliced, routed, plain}},
		"an account's newest":    {Newest(ctx, log, alice, "", 2), []market.Fill{sliced, routed}},
		"an account in one coin": {Newest(ctx, log, alice, "BTC", 5), []market.Fill{routed, plain}},
		"a window":               {Window(ctx, log, alice, plain.When(), routed.When()), []market.Fill{plain, routed}},
		"an order":               {ByOrder(ctx, log, 9, time.Time{}), []market.Fill{plain, routed, sliced}},
		"a TWAP":                 {ByTwap(ctx, log, twap, time.Time{}), []market.Fill{sliced}},
		"a builder":              {ByBuilder(ctx, log, routed.Builder, time.Time{}, 9), []market.Fill{routed}},
		"nobody":                 {Newest(ctx, log, routed.Builder, "", 0), nil},
	} {
		var got []market.Fill
		got = slices.AppendSeq(got, must.All(t, c.found))
		check.Equalf(t, c.want, got, "fills of %s", name)
	}
}

// A row's ID distinguishes the fills of one account and time.
func TestFillsOfOneTimeHaveRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	list := []market.Fill{
		{Address: "0x1", Time: 1, Coin: "BTC", Side: market.Buy, Oid: 0},
		{Address: "0x1", Time: 1, Coin: "BTC", Side: market.Buy, Oid: 1},               // shares of dust
		{Address: "0x1", Time: 1, Coin: "BTC", Side: market.Buy, Tid: 1, Oid: 2},       // of one trade
		{Address: "0x1", Time: 1, Coin: "BTC", Side: market.Sell, Tid: 1, Oid: 3},      // with itself
		{Address: "0x1", Time: 1, Coin: "PURR/USDC", Side: market.Buy, Tid: 1, Oid: 4}, // in another coin
	}
	ids := []string{}
	for i, r := range AppendRows(nil, list) {
		ids = append(ids, r.ID)
		if r.Index[1] != strconv.Itoa(i) {
			t.Errorf("row %d is found under the order %q", i, r.Index[1])
		}
	}
	if !slices.Equal(ids, []string{"BTC#0#B#0", "BTC#0#B#1", "BTC#1#B", "BTC#1#A", "PURR/USDC#1#B"}) {
		t.Errorf("the IDs are %v", ids)
	}
}
