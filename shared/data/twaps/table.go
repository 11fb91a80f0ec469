package twaps

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// TableName is that of the view of the table itself. Nobody but the ingester reads it.
const TableName = "twaptable"

// storedTable is the table as it is stored.
type storedTable struct {
	Newest    int64       `json:"newest"`
	FillsFrom int64       `json:"fillsFrom"`
	Runs      []storedRun `json:"runs"` // by id
}

// storedRun is a TWAP of the table. Fills are packed: of each the trade id and the time less
// those of the one before, size and value.
type storedRun struct {
	ID     int64   `json:"id"`
	Status *stored `json:"status,omitempty"`
	Until  int64   `json:"until,omitempty"`
	Ended  bool    `json:"ended,omitempty"`
	Fills  []byte  `json:"fills,omitempty"`
	Before int64   `json:"before,omitempty"`
	Sz     string  `json:"sz,omitempty"` // of the fills up to Before
	Ntl    string  `json:"ntl,omitempty"`
}

// PublishedTable is how the table is stored.
var PublishedTable = store.ViewType[*market.Twaps]{Name: TableName, Write: encodeTable, Read: decodeTable}

func encodeTable(t *market.Twaps) []byte {
	w := storedTable{Newest: t.Newest, FillsFrom: t.FillsFrom, Runs: make([]storedRun, 0, len(t.Runs))}
	for _, id := range slices.Sorted(maps.Keys(t.Runs)) {
		run := t.Runs[id]
		of := storedRun{ID: id, Until: run.Until, Ended: run.Ended, Before: run.Before, Fills: packFills(run.Fills)}
		if run.Status.TwapID != nil {
			of.Status = new(storedOf(&run.Status))
		}
		if run.Before > 0 {
			of.Sz, of.Ntl = market.Text(run.Sum.Sz), market.Text(run.Sum.Ntl)
		}
		w.Runs = append(w.Runs, of)
	}
	return dataset.JSON(w)
}

func packFills(fills []market.TwapFill) []byte {
	var w packed.Writer
	var last market.TwapFill
	for _, f := range fills {
		w.Int(f.Tid-last.Tid, f.Time-last.Time)
		w.Decimal(f.Sz, f.Ntl)
		last = f
	}
	return w.B
}

var errTable = errors.New("is no table of TWAPs")

func decodeTable(body []byte) (*market.Twaps, error) {
	w, err := dataset.FromJSON[storedTable](body)
	if err != nil {
		return nil, fmt.Errorf("read the table of TWAPs: %w", err)
	}
	t := &market.Twaps{Newest: w.Newest, FillsFrom: w.FillsFrom, Runs: make(map[int64]*market.TwapRun, len(w.Runs))}
	for i := range w.Runs {
		run, err := w.Runs[i].run()
		if err != nil {
			return nil, fmt.Errorf("read the table of TWAPs: %w", err)
		}
		t.Runs[w.Runs[i].ID] = run
	}
	t.Restored()
	return t, nil
}

func (w *storedRun) run() (run *market.TwapRun, err error) {
	run = &market.TwapRun{Until: w.Until, Ended: w.Ended, Before: w.Before}
	if w.Status != nil {
		if run.Status, err = w.Status.status(); err != nil {
			return nil, err
		}
		if id := run.Status.TwapID; id == nil || *id != w.ID {
			return nil, errTable
		}
	}
	if w.Before > 0 {
		var err1, err2 error
		run.Sum.Sz, err1 = market.ParseStored(w.Sz)
		run.Sum.Ntl, err2 = market.ParseStored(w.Ntl)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
	}
	r := packed.Reader{B: w.Fills}
	var last market.TwapFill
	for len(r.B) > 0 {
		last.Tid, last.Time = last.Tid+r.Int(), last.Time+r.Int()
		last.Sz, last.Ntl = r.Decimal(), r.Decimal()
		run.Fills = append(run.Fills, last)
	}
	if !r.Done() {
		return nil, errTable
	}
	return run, nil
}
