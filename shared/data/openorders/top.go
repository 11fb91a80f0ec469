// Package openorders is what rests in the books of the venue: views that the ingester keeps
// of the table [market.OpenOrders].
//
//	openorders       the largest orders of each coin and of all, for their readers
//	openordervalues  the values of all orders, by coin and side, for who counts them
//	spotreserves     what the orders of spot markets reserve, by account
//	accountorders0 to accountordersf
//	                 the open orders of the accounts that somebody follows
//	openordertable   the table itself, from which the ingester continues after a restart
//
// Prices are quote units, sizes base units, values (price x what rests) quote units,
// all exact.
package openorders

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/text/jsontext"
)

// TopName is that of the view of the largest orders.
const TopName = "openorders"

// Period is how old the views of the largest orders and of values may be in a reader's
// memory: as often as they are published at most.
const Period = 5 * time.Second

// Top are the largest orders. The zero value has none.
type Top struct {
	Time  int64           // when they were ranked, ms
	All   Rows            // of all coins
	Coins map[string]Rows // of each
}

// Rows are orders as the view has them: the largest first, at most [market.TopOrders].
type Rows []byte

// PublishedTop is how the view of the largest orders is stored.
var PublishedTop = store.ViewType[Top]{Name: TopName, Period: Period, Write: encodeTop, Read: decodeTop}

// Orders returns the largest orders of a coin, of all for "".
func (v Top) Orders(coin string) ([]market.OpenOrder, error) {
	rows := v.All
	if coin != "" {
		rows = v.Coins[coin]
	}
	if rows == nil {
		return nil, nil
	}
	var texts []string
	if err := json.Unmarshal(rows, &texts); err != nil {
		return nil, fmt.Errorf("read open orders: %w", err)
	}
	list := make([]market.OpenOrder, len(texts))
	for i, text := range texts {
		if err := parseOrder(&list[i], text); err != nil {
			return nil, fmt.Errorf("read an open order: %w", err)
		}
	}
	return list, nil
}

// NewRows encodes orders, one text each:
//
//	<40 hex digits> <oid> <ms> <B or A> <px> <origSz> <sz> <1 if reduce-only, else 0> <tif or -> <coin>
func NewRows(list []market.OpenOrder) Rows {
	b := append(make([]byte, 0, 16+130*len(list)), '[')
	var text []byte
	for i := range list {
		o := &list[i]
		if i > 0 {
			b = append(b, ',')
		}
		text = append(hex.AppendEncode(text[:0], o.Account[:]), ' ')
		text = append(strconv.AppendInt(text, o.Oid, 10), ' ')
		text = append(strconv.AppendInt(text, o.Placed, 10), ' ', byte(o.Side), ' ')
		for _, amount := range [...]market.Amount{o.Px, o.OrigSz, o.Sz} {
			text = append(market.AppendText(text, amount.Decimal()), ' ')
		}
		reduce, tif := "0 ", o.Tif
		if o.ReduceOnly {
			reduce = "1 "
		}
		if tif == "" {
			tif = "-"
		}
		text = append(append(append(append(text, reduce...), tif...), ' '), o.Coin...)
		b = jsontext.AppendString(b, string(text))
	}
	return append(b, ']')
}

var errOrder = errors.New("is no order")

func parseOrder(o *market.OpenOrder, text string) error {
	f := strings.SplitN(text, " ", 10)
	if len(f) != 10 || len(f[0]) != 2*len(o.Account) || f[3] != "A" && f[3] != "B" {
		return fmt.Errorf("%.200q %w", text, errOrder)
	}
	_, err1 := hex.Decode(o.Account[:], []byte(f[0]))
	var err2, err3 error
	o.Oid, err2 = strconv.ParseInt(f[1], 10, 64)
	o.Placed, err3 = strconv.ParseInt(f[2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for i, to := range [...]*market.Amount{&o.Px, &o.OrigSz, &o.Sz} {
		var ok bool
		if *to, ok = market.ParseAmount(f[4+i]); !ok {
			return fmt.Errorf("%.200q %w", text, errOrder)
		}
	}
	o.Side, o.ReduceOnly, o.Coin = market.Side(f[3][0]), f[7] == "1", f[9]
	if f[8] != "-" {
		o.Tif = f[8]
	}
	return nil
}

// encodeTop writes {"time":ms,"all":[..],"coins":{"BTC":[..],..}}.
func encodeTop(v Top) []byte {
	size := len(v.All) + 64
	for coin, rows := range v.Coins {
		size += len(coin) + len(rows) + 8
	}
	b := strconv.AppendInt(append(make([]byte, 0, size), `{"time":`...), v.Time, 10)
	b = append(b, `,"all":`...)
	if v.All == nil {
		v.All = Rows("[]")
	}
	b = append(append(b, v.All...), `,"coins":`...)
	return append(appendByCoin(b, v.Coins), '}')
}

// appendByCoin appends what is encoded of each coin.
func appendByCoin[T ~[]byte](b []byte, coins map[string]T) []byte {
	b = append(b, '{')
	for i, coin := range slices.Sorted(maps.Keys(coins)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(jsontext.AppendString(b, coin), ':'), coins[coin]...)
	}
	return append(b, '}')
}

// decodeTop reads what encodeTop wrote. The orders themselves are read when they are
// asked for.
func decodeTop(body []byte) (Top, error) {
	w, err := dataset.FromJSON[struct {
		Time  int64                      `json:"time"`
		All   json.RawMessage            `json:"all"`
		Coins map[string]json.RawMessage `json:"coins"`
	}](body)
	if err != nil {
		return Top{}, fmt.Errorf("read the largest open orders: %w", err)
	}
	v := Top{Time: w.Time, All: Rows(dataset.NotNull(w.All)), Coins: make(map[string]Rows, len(w.Coins))}
	for coin, rows := range w.Coins {
		v.Coins[coin] = Rows(dataset.NotNull(rows))
	}
	return v, nil
}
