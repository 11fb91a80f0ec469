package catalog

// glossary says what a member means that means the same wherever it stands: a field
// of a request or a response without a comment of its own is described by the
// comment here of the same name.
type glossary struct {
	AccessKey, AccessKeys any // access key, which is no secret
	Actions               any // names of the actions that are permitted, such as HL_FILLS
	ActiveSubKeys         any // number of enabled sub-keys
	Address               any // account: 0x and 40 hexadecimal digits, in any case in requests, in lower case in answers
	Addresses             any // accounts: 0x and 40 hexadecimal digits each, in any case
	AggregateByTime       any // true joins the fills of one order at one time to one row
	Amount                any // quote volume, a decimal string
	AmountBuyer           any // quote volume in which the taker bought, a decimal string
	AskVolume             any // base units that rested to be sold, a decimal string
	AvgPv                 any // average value of a position in quote units, a decimal string
	BidVolume             any // base units that rested to be bought, a decimal string
	Cloid                 any // order id that the client chose; null for none
	Close                 any // last price, a decimal string
	ClosedPnl             any // profit that the fill realized, in quote units without fees, a decimal string
	Coin                  any // name of the market: BTC, dex:GOLD, PURR/USDC, @107 or #12; upper and lower case differ
	CreatedAt             any // when it was created: RFC 3339, UTC
	Cursor                any // X-Next-Cursor of an earlier answer to the same request: the rows behind it are listed
	Crossed               any // true where the account was the taker
	Dex                   any // name of a dex, a group of perpetuals; empty is the main one
	Dir                   any // what the fill did: Open Long, Close Short, Buy, ...
	DisabledSubKeys       any // number of disabled sub-keys
	ErrorCode             any // HTTP status, for readers of envelope A
	ExpiresAt             any // when it expires: RFC 3339, UTC; null for never
	Fee                   any // what the account paid, negative for a rebate, a decimal string
	EndTime               any // end of the span in milliseconds since 1970 UTC, inclusive; absent it is now
	FeeToken              any // token in which the fee was paid, such as USDC
	Format                any // format of the answer
	Hash                  any // hash of the transaction on the venue's chain
	High                  any // highest price, a decimal string
	InviteToken           any // token of the invitation, valid once
	IsPositionTpsl        any // true for a take-profit or stop-loss of a whole position
	IsTaker               any // true where the account was the taker
	IsTrigger             any // true for an order that a price triggers
	Keyword               any // part of a name in any case, or the start of an access key
	Level                 any // name of the level, which lists permissions and limits
	LimitPx               any // limit price in quote units, a decimal string
	LongCount             any // number of open long positions
	LongPv                any // value of long positions in quote units, a decimal string
	Low                   any // lowest price, a decimal string
	MaxSubKeys            any // most sub-keys, 0 for any number
	MaxTimeRange          any // longest span of one request in seconds, 0 for unlimited
	MaxTotalQuota         any // requests per calendar month in UTC, 0 for unlimited
	Message, Msg          any // the text of error, for readers of other envelopes
	Metadata              any // JSON text that its owner stored with it
	MonthlyQuota          any // requests that it may make in a calendar month, UTC
	Name                  any // name that is shown to people
	Oid                   any // order id
	Open                  any // first price, a decimal string
	Page                  any // number of the page, from 1
	PageSize              any // rows of a page
	PositionCount         any // number of open positions
	Price, Px             any // price in quote units, a decimal string
	RateLimit             any // requests per minute
	ReduceOnly            any // true for an order that may only reduce a position
	RequestID             any // id of the request, which finds it in the logs of the service
	SecretKey             any // secret with which requests are signed; it is shown this once
	ShortPv               any // value of short positions in quote units, a decimal string
	Side                  any // B to buy, A to sell
	Size, Sz              any // size in base units, a decimal string
	SizeBuyer             any // base volume in which the taker bought, a decimal string
	StartTime             any // start of the span in milliseconds since 1970 UTC, inclusive
	StartPosition         any // position before the fill in base units, negative for short, a decimal string
	Status                any // 1 enabled, 0 disabled
	SubKeyCount           any // number of existing sub-keys
	TCBuyer               any // number of trades in which the taker bought
	Tid                   any // trade id
	Total                 any // rows of all pages together
	TotalPv               any // value of all positions in quote units, a decimal string
	TotalSubKeys          any // number of existing sub-keys
	TriggerCondition      any // what triggers the order, in words
	TriggerPx             any // price that triggers the order, a decimal string
	TwapID                any // id of the TWAP order
	Type                  any // kind of question, which decides the other members
	UsedMonthlyQuota      any // requests counted in this calendar month, UTC
	UsedQuota             any // requests counted in this calendar month, UTC
	WSConnLimit           any // WebSocket connections at one time, 0 for unlimited
	WSSubLimit            any // WebSocket subscriptions at one time, 0 for unlimited
}

var _ glossary // read from the source alone
