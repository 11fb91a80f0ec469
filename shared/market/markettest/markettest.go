// Package markettest draws values of the domain for property tests. What it draws
// passes the checks of the package market, and is as odd as they allow: long
// decimals, coins that need escapes in JSON, texts of any script.
package markettest

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/text/visible"
)

// Base is the ms from which times are drawn, for a week: a minute before midnight
// of Saturday, 2026-03-14 UTC.
const Base = 1_773_532_740_000

// Decimal draws the text of a decimal that is not negative, with up to digits and
// places digits.
func Decimal(digits, places int) *rapid.Generator[string] {
	return rapid.StringMatching(fmt.Sprintf(`(0|[1-9][0-9]{0,%d})(\.[0-9]{1,%d})?`, digits-1, places))
}

// Signed draws the text of a decimal.
func Signed(digits, places int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + Decimal(digits, places).Draw(t, "digits")
	})
}

// Parsed draws a decimal that is not negative.
func Parsed(digits, places int) *rapid.Generator[market.Decimal] {
	return rapid.Map(Decimal(digits, places), func(text string) market.Decimal {
		d, err := market.ParseDecimal(text)
		if err != nil {
			panic(err) // every text that Decimal draws is one
		}
		return d
	})
}

// Coin draws a name.
func Coin() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"BTC", "ETH", "xyz:GOLD", "@107", "PURR/USDC", "#441", `a"b\c`, "k\u00fc<&>"}),
		rapid.StringMatching(`[A-Z]{1,8}`),
	)
}

// Address draws one of a few addresses.
func Address() *rapid.Generator[string] {
	return rapid.Map(rapid.IntRange(0, 9), func(n int) string { return fmt.Sprintf("0x%040x", 0xa11ce0+n) })
}

// Time draws a time, ms.
func Time() *rapid.Generator[int64] { return rapid.Int64Range(Base, Base+7*86_400_000) }

func id() *rapid.Generator[int64] { return rapid.Int64Range(0, 1<<53) }

// text is a line as [visible.Line] leaves it.
func text() *rapid.Generator[string] { return rapid.Map(rapid.StringN(0, 20, 60), visible.Line) }

// Foreign draws a text as a stranger may write it: of any characters, those among them that are
// hidden or none.
func Foreign() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "\u202e", "a\u202eb", "\x00", "\n", "a\x1b[2Jb", "\xff", "\ufffd", "\ufffe", "\u2028", "open", "filled", "#"}),
		rapid.StringN(0, 300, 300),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 80), func(b []byte) string { return string(b) }),
	)
}

// ForeignJSON draws a JSON value with such texts, or what is none.
func ForeignJSON() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		text := Foreign().Draw(t, "text")
		escaped, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		one := rapid.SampledFrom([]string{string(escaped), `"` + text + `"`, `"\u202e\u0000\ud800"`}).Draw(t, "member")
		shape := rapid.SampledFrom([]string{`[%s]`, `[{"coin":%s}]`, `[{%s:1}]`, `{"type":"send","to":%s}`, `{"type":%s}`, `%s`, `[%s`}).Draw(t, "shape")
		return json.RawMessage(fmt.Sprintf(shape, one))
	})
}

// Side draws a side.
func Side() *rapid.Generator[market.Side] {
	return rapid.SampledFrom([]market.Side{market.Buy, market.Sell})
}

// Fill draws a fill.
func Fill() *rapid.Generator[market.Fill] {
	return rapid.Custom(func(t *rapid.T) market.Fill {
		f := market.Fill{
			Address: Address().Draw(t, "address"), Coin: Coin().Draw(t, "coin"), Px: Decimal(9, 8).Draw(t, "px"), Sz: Decimal(9, 8).Draw(t, "sz"),
			Side: Side().Draw(t, "side"), Time: Time().Draw(t, "time"), StartPosition: Signed(9, 8).Draw(t, "start"), Dir: text().Draw(t, "dir"),
			ClosedPnl: Signed(9, 8).Draw(t, "pnl"), Hash: text().Draw(t, "hash"), Oid: id().Draw(t, "oid"), Crossed: rapid.Bool().Draw(t, "crossed"),
			Fee: Signed(6, 8).Draw(t, "fee"), Tid: id().Draw(t, "tid"), FeeToken: text().Draw(t, "token"), Seq: id().Draw(t, "seq"),
		}
		if rapid.Bool().Draw(t, "rich") {
			f.Cloid = fmt.Sprintf("0x%032x", id().Draw(t, "cloid"))
			f.Builder, f.BuilderFee = Address().Draw(t, "builder"), Decimal(4, 6).Draw(t, "builder fee")
			f.Liquidation = &market.Liquidation{MarkPx: Decimal(9, 6).Draw(t, "mark"), Method: "market"}
			if rapid.Bool().Draw(t, "named") {
				f.Liquidation.LiquidatedUser = Address().Draw(t, "user")
			}
			twap := id().Draw(t, "twap")
			f.TwapID = &twap
		}
		return f
	})
}

// Order draws a status of an order, without what is not stored of one.
func Order() *rapid.Generator[market.OrderStatus] {
	return rapid.Custom(func(t *rapid.T) market.OrderStatus {
		s := market.OrderStatus{
			Address: Address().Draw(t, "address"), Time: Time().Draw(t, "time"), Seq: id().Draw(t, "seq"),
			Status: rapid.SampledFrom([]string{"open", "filled", "canceled", `odd"one`}).Draw(t, "status"),
			Coin:   Coin().Draw(t, "coin"), Side: Side().Draw(t, "side").String(), LimitPx: Decimal(9, 8).Draw(t, "px"),
			Sz: Decimal(9, 8).Draw(t, "sz"), OrigSz: Decimal(9, 8).Draw(t, "size"), Oid: id().Draw(t, "oid"), Timestamp: Time().Draw(t, "placed"),
			TriggerCondition: text().Draw(t, "condition"), IsTrigger: rapid.Bool().Draw(t, "trigger"), TriggerPx: Decimal(9, 8).Draw(t, "trigger px"),
			Children: json.RawMessage(`[]`), IsPositionTpsl: rapid.Bool().Draw(t, "tpsl"), ReduceOnly: rapid.Bool().Draw(t, "reduce"),
			OrderType: text().Draw(t, "type"), Tif: rapid.SampledFrom([]string{"", "Gtc", "Ioc", "Alo", "FrontendMarket", `odd"one`}).Draw(t, "tif"),
		}
		if rapid.Bool().Draw(t, "rich") {
			s.Cloid = fmt.Sprintf("0x%032x", id().Draw(t, "cloid"))
			s.Children = json.RawMessage(`[{"oid":5,"coin":"BTC"}]`)
		}
		return s
	})
}

// Twap draws a status of a TWAP order.
func Twap() *rapid.Generator[market.TwapStatus] {
	return rapid.Custom(func(t *rapid.T) market.TwapStatus {
		s := market.TwapStatus{
			Address: Address().Draw(t, "address"), Time: Time().Draw(t, "time"), Seq: id().Draw(t, "seq"),
			Status: rapid.SampledFrom([]string{market.TwapActivated, market.TwapFinished, market.TwapTerminated, market.TwapError, "odd one"}).Draw(t, "status"),
			Twap: market.Twap{
				Coin: Coin().Draw(t, "coin"), Side: Side().Draw(t, "side"), Sz: Decimal(9, 8).Draw(t, "sz"), ExecutedSz: Decimal(9, 8).Draw(t, "executed"),
				ExecutedNtl: Decimal(9, 6).Draw(t, "value"), Minutes: rapid.Int64Range(0, 1440).Draw(t, "minutes"), ReduceOnly: rapid.Bool().Draw(t, "reduce"),
				Randomize: rapid.Bool().Draw(t, "randomize"),
			},
		}
		s.Timestamp = s.Time - rapid.Int64Range(0, 86_400_000).Draw(t, "age")
		if rapid.IntRange(0, 9).Draw(t, "numbered") > 0 {
			s.TwapID = new(id().Draw(t, "id"))
		}
		if s.Status == market.TwapError {
			s.Error = text().Draw(t, "error")
		}
		return s
	})
}

// Book draws a book with up to 20 prices a side.
func Book() *rapid.Generator[market.Book] {
	return rapid.Custom(func(t *rapid.T) market.Book {
		side := func(name string, step int) []market.Level {
			levels := []market.Level{}
			px := rapid.IntRange(1_000_000, 2_000_000).Draw(t, name)
			for range rapid.IntRange(0, 20).Draw(t, name+" prices") {
				px += step * rapid.IntRange(1, 999).Draw(t, "step")
				levels = append(levels, market.Level{Px: fmt.Sprintf("%d.%d", px/10, px%10), Sz: Decimal(6, 5).Draw(t, "sz"), N: rapid.Int64Range(0, 1<<20).Draw(t, "orders")})
			}
			return levels
		}
		return market.Book{Coin: Coin().Draw(t, "coin"), Time: Time().Draw(t, "time"), Bids: side("bids", -1), Asks: side("asks", 1)}
	})
}

// Trade draws a trade.
func Trade() *rapid.Generator[market.Trade] {
	return rapid.Custom(func(t *rapid.T) market.Trade {
		return market.Trade{Coin: Coin().Draw(t, "coin"), Side: Side().Draw(t, "side"), Px: Parsed(9, 8).Draw(t, "px"), Sz: Parsed(9, 8).Draw(t, "sz"),
			Time: Time().Draw(t, "time"), Tid: id().Draw(t, "tid"), Seq: id().Draw(t, "seq")}
	})
}

// CompletedTrade draws a completed trade.
func CompletedTrade() *rapid.Generator[market.CompletedTrade] {
	return rapid.Custom(func(t *rapid.T) market.CompletedTrade {
		signed := func(name string) market.Decimal {
			d := Parsed(9, 8).Draw(t, name)
			if rapid.Bool().Draw(t, name+" is negative") {
				d = d.Neg()
			}
			return d
		}
		count := func(name string) int64 { return rapid.Int64Range(0, 1<<20).Draw(t, name) }
		end := Time().Draw(t, "end")
		return market.CompletedTrade{
			Address: Address().Draw(t, "address"), Coin: Coin().Draw(t, "coin"), Long: rapid.Bool().Draw(t, "long"), Isolated: rapid.Bool().Draw(t, "isolated"),
			Leverage: rapid.Int64Range(0, 50).Draw(t, "leverage"), Size: Parsed(9, 8).Filter(market.Decimal.IsPos).Draw(t, "size"),
			EntryPx: Parsed(9, 8).Draw(t, "entry"), ClosePx: Parsed(9, 8).Draw(t, "close"),
			Start: end - rapid.Int64Range(0, 90*86_400_000).Draw(t, "held"), End: end, Seq: id().Draw(t, "seq"), Tid: id().Draw(t, "tid"), Partial: rapid.Bool().Draw(t, "partial"),
			Pnl: signed("pnl"), Fee: signed("fee"), Funding: signed("funding"), MaxSize: Parsed(9, 8).Draw(t, "max size"), MaxValue: Parsed(9, 8).Draw(t, "max value"),
			Fills: count("fills"), OpenOrders: count("open orders"), CloseOrders: count("close orders"), Liquidated: rapid.Bool().Draw(t, "liquidated"),
		}
	})
}

// Account draws an account as it may be, not as a history would leave it.
func Account() *rapid.Generator[market.Account] {
	return rapid.Custom(func(t *rapid.T) market.Account {
		flag := rapid.Bool()
		amount := func(name string) market.Decimal { return Amount().Draw(t, name) }
		// Some times are not known.
		ms := func(name string) int64 { return rapid.OneOf(rapid.Just(int64(0)), Time()).Draw(t, name) }
		orders := func(name string) market.OrderCount {
			return market.OrderCount{N: id().Draw(t, name), Recent: rapid.SliceOfN(id(), 0, 4).Draw(t, name)}
		}
		a := market.Account{
			Address: Address().Draw(t, "address"), Since: ms("since"), Time: Time().Draw(t, "time"), Anchored: ms("anchored"), SpotTime: ms("spot time"),
			UpdatesSince: ms("updates since"),
			NetPerp:      amount("net perp"), NetSpot: amount("net spot"), Mode: market.Mode(rapid.IntRange(0, int(market.ModeOther)).Draw(t, "mode")), Lost: ms("lost"),
		}
		for _, dex := range []string{"", "xyz"}[:rapid.IntRange(0, 2).Draw(t, "dexes")] {
			funds := market.DexFunds{Dex: dex, Cash: amount("cash"), Anchored: ms("dex anchored")}
			if flag.Draw(t, "posted") {
				funds.Posted = &market.Posted{AccountValue: amount("value"), TotalRawUsd: amount("raw"), CrossAccountValue: amount("cross value"),
					CrossTotalRawUsd: amount("cross raw"), Withdrawable: amount("withdrawable")}
			}
			a.Dexes = append(a.Dexes, funds)
		}
		for _, token := range []string{"HYPE", "USDC"}[:rapid.IntRange(0, 2).Draw(t, "tokens")] {
			a.Spot = append(a.Spot, market.SpotHolding{Token: token, Total: amount("total"), Cost: amount("cost"), NoCost: flag.Draw(t, "no cost"),
				Off: amount("off"), OffSince: ms("off since"), Lent: amount("lent"), Backs: flag.Draw(t, "backs")})
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "updates") {
			a.Updates = append(a.Updates, market.LedgerUpdate{Time: Base + int64(i), Digest: rapid.Uint64().Draw(t, "digest")})
		}
		for _, coin := range []string{"@107", "BTC", "xyz:GOLD"}[:rapid.IntRange(0, 3).Draw(t, "holdings")] {
			h := market.Holding{
				Coin: coin, Leverage: market.Leverage{Isolated: flag.Draw(t, "isolated"), Value: rapid.Int64Range(0, 50).Draw(t, "leverage")},
				Began: ms("began"), Last: market.Order{Time: ms("last"), Seq: id().Draw(t, "seq"), Tid: id().Draw(t, "tid")}, Paid: ms("paid"),
				FundingAllTime: amount("all time"), Unsure: flag.Draw(t, "unsure"), Late: flag.Draw(t, "late"),
				Gap: market.Order{Time: ms("gap"), Seq: id().Draw(t, "gap seq"), Tid: id().Draw(t, "gap tid")},
			}
			if size := amount("size"); !size.IsZero() {
				h.Open = &market.OpenPosition{
					Size: size, Cost: amount("cost"), NoCost: flag.Draw(t, "no cost"), Margin: amount("margin"), SaidLiquidationPx: amount("liquidation price"), FundingSinceOpen: amount("since open"),
					FundingSinceChange: amount("since change"), Opened: ms("opened"), Partial: flag.Draw(t, "partial"), Reduced: ms("reduced"),
					ClosedSize: amount("closed size"), ClosedValue: amount("closed value"), Pnl: amount("pnl"), Fee: amount("fee"), MaxSize: amount("max size"),
					MaxValue: amount("max value"), Fills: id().Draw(t, "fills"), Opening: orders("opening"), Closing: orders("closing"),
					Liquidated: flag.Draw(t, "liquidated"),
				}
			}
			a.Holdings = append(a.Holdings, h)
		}
		return a
	})
}

// Amount draws a decimal of either sign.
func Amount() *rapid.Generator[market.Decimal] {
	return rapid.Map(Signed(12, 8), func(text string) market.Decimal {
		d, err := market.ParseDecimal(text)
		if err != nil {
			panic(err) // every text that Signed draws is one
		}
		return d
	})
}
