package market

import "time"

// CompletedTrade is a position of an account in a perpetual from flat to flat: its
// first opening fill to the fill that closed the rest of it. A fill that turns a long
// into a short completes the long and opens the short, and belongs to both.
//
// Prices are quote units per base unit, sizes base units, amounts quote units.
type CompletedTrade struct {
	Address, Coin string
	Long          bool
	Isolated      bool
	Leverage      int64 // as the account had set it; 0 where it is not known

	Size             Decimal // opened in all, which is what was closed in all; positive
	EntryPx, ClosePx Decimal // averages of what opened and of what closed it, by size

	Start   int64 // of the first fill, ms; of the first known one where Partial
	End     int64 // of the fill that closed it, ms
	Seq     int64 // of that fill: the order within one millisecond, as [Fill].Seq
	Tid     int64 // of that fill: no two trades of an account, coin and millisecond share it
	Partial bool  // it began before the account was known

	Pnl     Decimal // sum of closedPnl; neither fees nor funding are in it
	Fee     Decimal // of all its fills, USDC; negative is a rebate
	Funding Decimal // received less paid, USDC

	MaxSize  Decimal // the largest size that was held
	MaxValue Decimal // the largest value that was held, at the price of the fill that led to it

	Fills       int64 // that it consists of
	OpenOrders  int64 // distinct orders that opened it or added to it
	CloseOrders int64 // distinct orders that reduced or closed it
	Liquidated  bool  // a fill of it liquidated the account
}

// When is End as a time.Time in UTC.
func (t *CompletedTrade) When() time.Time { return time.UnixMilli(t.End).UTC() }

// Duration is how long the position was held, ms.
func (t *CompletedTrade) Duration() int64 { return t.End - t.Start }

// Orders is how many distinct orders opened and closed the position.
func (t *CompletedTrade) Orders() int64 { return t.OpenOrders + t.CloseOrders }
