// Package twaps is the TWAP orders of the venue: the log of the statuses that they came to,
// and the views of those that run.
//
//	log twapstatuses  one immutable row a status, found by account, and by account and coin
//	view runningtwaps the TWAPs that run, for their readers
//	view twaptable    the table [market.Twaps], from which the ingester continues after a restart
package twaps

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// StatusesName is that of the log. A row has the account's address as subject and
// "<TWAP id>#<status>" as ID, so that statuses may come in any order and again; of an order
// without an id what was ordered stands for it. Index A is "<address>/<coin>".
const StatusesName = "twapstatuses"

// RunningName is that of the view of the TWAPs that run.
const RunningName = "runningtwaps"

// stored is a status as it is stored, in the log and in the view of those that run.
type stored struct {
	Address     string `json:"user"`
	TwapID      *int64 `json:"twapId"`
	Time        int64  `json:"time"`
	Status      string `json:"status"`
	Error       string `json:"error,omitempty"`
	Coin        string `json:"coin"`
	Side        string `json:"side"`
	Sz          string `json:"sz"`
	ExecutedSz  string `json:"executedSz"`
	ExecutedNtl string `json:"executedNtl"`
	Minutes     int64  `json:"minutes"`
	ReduceOnly  bool   `json:"reduceOnly"`
	Randomize   bool   `json:"randomize"`
	Timestamp   int64  `json:"timestamp"`
	Seq         int64  `json:"seq"`
}

func storedOf(s *market.TwapStatus) stored {
	return stored{
		Address: s.Address, TwapID: s.TwapID, Time: s.Time, Status: s.Status, Error: s.Error, Coin: s.Coin, Side: s.Side.String(),
		Sz: s.Sz, ExecutedSz: s.ExecutedSz, ExecutedNtl: s.ExecutedNtl, Minutes: s.Minutes, ReduceOnly: s.ReduceOnly, Randomize: s.Randomize,
		Timestamp: s.Timestamp, Seq: s.Seq,
	}
}

// status is what was stored. It passes [market.TwapStatus.Check].
func (w *stored) status() (market.TwapStatus, error) {
	s := market.TwapStatus{Address: w.Address, TwapID: w.TwapID, Time: w.Time, Status: w.Status, Error: w.Error, Seq: w.Seq, Twap: market.Twap{
		Coin: w.Coin, Sz: w.Sz, ExecutedSz: w.ExecutedSz, ExecutedNtl: w.ExecutedNtl, Minutes: w.Minutes, ReduceOnly: w.ReduceOnly,
		Randomize: w.Randomize, Timestamp: w.Timestamp,
	}}
	if len(w.Side) == 1 {
		s.Side = market.Side(w.Side[0])
	}
	return s, s.Check()
}

var log = dataset.Log[market.TwapStatus]{Name: StatusesName, Row: row, Decode: Decode}

func row(s *market.TwapStatus) store.Row {
	id := s.Coin + "#" + s.Side.String() + "#" + s.Sz
	if s.TwapID != nil {
		id = strconv.FormatInt(*s.TwapID, 10)
	}
	return store.Row{
		Subject: s.Address, Time: time.UnixMilli(s.Time).UTC(), ID: id + "#" + s.Status, Seq: s.Seq,
		Index: [4]string{ofCoin(s.Address, s.Coin)}, Body: dataset.JSON(storedOf(s)),
	}
}

func ofCoin(address, coin string) string { return address + "/" + coin }

// AppendRows appends the row of each status to rows. The statuses have passed
// [market.TwapStatus.Check].
func AppendRows(rows []store.Row, list []market.TwapStatus) []store.Row {
	return log.AppendRows(rows, list)
}

// Decode reads a row.
func Decode(r store.Row) (market.TwapStatus, error) {
	w, err := dataset.FromJSON[stored](r.Body)
	if err != nil {
		return market.TwapStatus{}, err
	}
	return w.status()
}

// Newest returns the statuses that the TWAPs of an account came to, in one coin or in all for
// "", newest first, at most limit of them. An error ends the sequence.
func Newest(ctx context.Context, l *store.Log, address, coin string, limit int) iter.Seq2[market.TwapStatus, error] {
	q := dataset.Query{Subject: address, Newest: true, Limit: limit}
	if coin != "" {
		q.Subject, q.Index = ofCoin(address, coin), store.A
	}
	return log.Read(ctx, l, q)
}

// period is how old the view may be in a reader's memory: as often as it is published.
const period = 5 * time.Second

// Running is the view of the TWAPs that run, by id, each with what was executed of it.
type Running struct {
	Time  int64 // when the view was made, ms
	Since int64 // those that began before are missing: what was executed of them is not known, ms
	Twaps []market.TwapStatus
}

// Of are the TWAPs of an account, by id.
func (v *Running) Of(address string) []market.TwapStatus {
	list := []market.TwapStatus{}
	for i := range v.Twaps {
		if v.Twaps[i].Address == address {
			list = append(list, v.Twaps[i])
		}
	}
	return list
}

// storedRunning is the view as it is stored.
type storedRunning struct {
	Time  int64    `json:"time"`
	Since int64    `json:"since"`
	Twaps []stored `json:"twaps"`
}

// PublishedRunning is how the view is stored.
var PublishedRunning = store.ViewType[Running]{Name: RunningName, Period: period, Write: func(v Running) []byte {
	w := storedRunning{Time: v.Time, Since: v.Since, Twaps: make([]stored, len(v.Twaps))}
	for i := range v.Twaps {
		w.Twaps[i] = storedOf(&v.Twaps[i])
	}
	return dataset.JSON(w)
}, Read: func(body []byte) (v Running, err error) {
	w, err := dataset.FromJSON[storedRunning](body)
	if err != nil {
		return v, err
	}
	v = Running{Time: w.Time, Since: w.Since, Twaps: make([]market.TwapStatus, len(w.Twaps))}
	for i := range w.Twaps {
		if v.Twaps[i], err = w.Twaps[i].status(); err != nil {
			return Running{}, err
		}
		if v.Twaps[i].TwapID == nil {
			return Running{}, errRunning
		}
	}
	return v, nil
}}

var errRunning = errors.New("a TWAP that runs has no id")
