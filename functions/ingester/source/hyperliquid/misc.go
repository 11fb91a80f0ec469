package hyperliquid

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
	"quotary/shared/venue/wire"
)

// ReadMisc reads a line of [LedgerStreams] and keeps all of it that is stored: what
// accounts paid and received as funding, the rates of the coins at which they did, and
// the ledger updates, one for each account that an update names.
//
// A line without any of these is not parsed at all, nor is an event.
func ReadMisc(e *market.Events, line string, offset int64) (skipped int, err error) {
	pays := strings.Contains(line, fundingMark)
	if !pays && !strings.Contains(line, ledgerMark) {
		return 0, nil
	}
	if len(line) > maxBlock && !pays {
		return 1, errBlock
	}
	b, err := nodeEvents(line)
	if err != nil {
		return 1, fmt.Errorf("read a line of misc events: %w", err)
	}
	r := miscReader{e: e, seq: b.seq(offset)}
	for i, raw := range b.Events {
		if !bytes.Contains(raw, []byte(ledgerMark)) && !bytes.Contains(raw, []byte(fundingMark)) {
			continue
		}
		n, fault := r.event(raw, int64(i))
		skipped, err = skipped+n, cmp.Or(err, fault) // one is enough to say, of however many
	}
	return skipped, err
}

var (
	errMiscTime   = errors.New("a misc event has no time")
	errLedgerUser = errors.New("an account of a ledger update is no address")
)

// What an event that is read has in its text.
const (
	ledgerMark  = `"LedgerUpdate"`
	fundingMark = `"Funding"`
)

// miscEvent has of the kinds of event those that are read; of all others both are nil.
type miscEvent struct {
	Time  string `json:"time"`
	Hash  string `json:"hash"`
	Inner struct {
		Funding *struct {
			Deltas []fundingDelta `json:"deltas"`
		}
		LedgerUpdate *struct {
			Users []string        `json:"users"`
			Delta json.RawMessage `json:"delta"`
		}
	} `json:"inner"`
}

// fundingDelta is what one account paid or received in one coin.
type fundingDelta struct {
	User   string `json:"user"`
	Coin   string `json:"coin"`
	Amount string `json:"funding_amount"`
	Szi    string `json:"szi"`
	Rate   string `json:"funding_rate"`
}

const (
	// mostUsers is how many accounts a ledger update names at most: a transfer names two.
	mostUsers = 10
	// mostCopied is how many bytes the ledger updates of a line may come to for the accounts
	// behind the first that each names: what a line becomes is its own length and this.
	mostCopied = 8 << 20
	// copiedRow is what an update costs beside its delta, in bytes, for each account.
	copiedRow = 512
)

var errCopied = errors.New("the ledger updates of a line name more accounts than any have")

// miscReader reads the events of a line.
type miscReader struct {
	e      *market.Events
	seq    int64 // of the first event
	copied int   // bytes for accounts behind the first of each ledger update
}

func (r *miscReader) event(raw json.RawMessage, index int64) (skipped int, err error) {
	var w miscEvent
	if err := lenient.Object(raw, &w); err != nil {
		return 1, fmt.Errorf("a misc event: %w", err)
	}
	if w.Inner.LedgerUpdate == nil && w.Inner.Funding == nil {
		return 0, nil
	}
	at, err := time.Parse(wire.NodeTime, w.Time)
	if err != nil || at.UnixMilli() <= 0 || at.UnixMilli() > market.MaxTime { // of which the store would take no row
		return 1, errMiscTime
	}
	if l := w.Inner.LedgerUpdate; l != nil {
		update, err := wire.ParseLedger(l.Delta)
		if err != nil {
			return 1, err
		}
		update.Time, update.Hash, update.Seq = at.UnixMilli(), w.Hash, r.seq+index
		update.Tidy()
		return r.update(update, l.Users)
	}
	return readDeltas(r.e, w.Inner.Funding.Deltas, at.UnixMilli(), r.seq+index)
}

// update keeps a ledger update for each account that it names.
func (r *miscReader) update(update market.Ledger, users []string) (skipped int, err error) {
	if len(users) == 0 {
		return 1, errors.New("a ledger update names no account")
	}
	if len(users) > mostUsers {
		return 1, fmt.Errorf("a ledger update names %d accounts", len(users))
	}
	copied := r.copied + (len(users)-1)*(len(update.Delta)+copiedRow)
	if copied > mostCopied {
		return 1, errCopied
	}
	r.copied = copied
	for _, user := range users {
		var ok bool
		if update.Address, ok = market.ParseAddress(user); !ok {
			skipped, err = skipped+1, errLedgerUser
			continue
		}
		of := update
		of.Route()
		r.e.Ledgers = append(r.e.Ledgers, of)
	}
	return skipped, err
}

// readDeltas keeps the payments of an hour and the rate of each coin. All accounts pay
// a coin at one rate, but the node does not write the premium: that stays "".
func readDeltas(e *market.Events, deltas []fundingDelta, ms, seq int64) (skipped int, err error) {
	rated := map[string]bool{}
	for i := range deltas {
		d := &deltas[i]
		p := market.FundingPayment{Address: d.User, Coin: d.Coin, Time: ms, USDC: d.Amount, Szi: d.Szi, Rate: d.Rate, Seq: seq}
		if fault := p.Check(); fault != nil {
			if skipped++; skipped == 1 { // of many, the first says enough
				err = fmt.Errorf("a funding payment: %w", fault)
			}
			continue
		}
		e.Payments = append(e.Payments, p)
		if rated[d.Coin] {
			continue
		}
		rated[d.Coin] = true
		e.Funding = append(e.Funding, market.Funding{Coin: d.Coin, Rate: d.Rate, Time: ms})
	}
	return skipped, err
}
