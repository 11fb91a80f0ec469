// Package strategysignals is the log of what the strategies said: one row for each signal, found by
// strategy, and by strategy and coin, in the order of time. A row is written again, under the same
// key, when it is known what became of its signal; it is never removed, as win rates are made of it.
package strategysignals

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the dataset. A row has the strategy as subject, the time at which the hour closed, and the
// pair as ID; index A is "<strategy>/<coin>".
const Name = "strategysignals"

// stored is the body of a row.
type stored struct {
	Buy   bool           `json:"buy"`
	Px    market.Decimal `json:"px"`
	State int            `json:"state,omitempty"`
	Ended int64          `json:"ended,omitempty"`
	Won   int64          `json:"won,omitempty"`
	Lost  int64          `json:"lost,omitempty"`
}

// Signal is a signal with the coin of its pair.
type Signal struct {
	market.StrategySignal
	Coin string // short name, in lower case
}

var log = dataset.Log[Signal]{
	Name: Name,
	Row: func(s *Signal) store.Row {
		return store.Row{
			Subject: s.Strategy, Time: time.UnixMilli(s.Time).UTC(), ID: s.Coin + "#" + s.Pair, Index: [4]string{ofCoin(s.Strategy, s.Coin)},
			Body: dataset.JSON(stored{s.Side == market.Buy, s.Px, int(s.State), s.Ended, s.Won, s.Lost}),
		}
	},
	Decode: decode,
}

func ofCoin(strategy, coin string) string { return strategy + "/" + coin }

var errBody = errors.New("a stored signal has no pair, no price or a state that there is not")

func decode(r store.Row) (Signal, error) {
	body, err := dataset.FromJSON[stored](r.Body)
	if err != nil {
		return Signal{}, err
	}
	s := Signal{StrategySignal: market.StrategySignal{
		Strategy: r.Subject, Time: r.Time.UnixMilli(), Side: market.Sell, Px: body.Px, State: market.SignalState(body.State), Ended: body.Ended, Won: body.Won, Lost: body.Lost,
	}}
	if body.Buy {
		s.Side = market.Buy
	}
	var ok bool
	if s.Coin, s.Pair, ok = strings.Cut(r.ID, "#"); !ok || !s.Px.IsPos() || s.State < market.SignalOpen || s.State > market.SignalExpired {
		return Signal{}, errBody
	}
	return s, nil
}

// AppendRows appends the row of each signal to rows.
func AppendRows(rows []store.Row, list []Signal) []store.Row { return log.AppendRows(rows, list) }

// Newest returns signals of a strategy, the last one first, up to a time or, where that is zero,
// all: of a coin, or of all where coin is "". An error ends the sequence.
func Newest(ctx context.Context, l *store.Log, strategy, coin string, until time.Time, limit int) iter.Seq2[Signal, error] {
	q := dataset.Query{Subject: strategy, To: until, Newest: true, Limit: limit}
	if coin != "" {
		q.Subject, q.Index = ofCoin(strategy, coin), store.A
	}
	return log.Read(ctx, l, q)
}

// All returns every signal of a strategy in the order of time.
func All(ctx context.Context, l *store.Log, strategy string) (list []Signal, err error) {
	for s, err := range log.Read(ctx, l, dataset.Query{Subject: strategy}) {
		if err != nil {
			return nil, fmt.Errorf("read signals of %s: %w", strategy, err)
		}
		list = append(list, s)
	}
	return list, nil
}
