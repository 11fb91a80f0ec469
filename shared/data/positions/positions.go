// Package positions is the snapshot of all accounts' positions, from which the
// ingester continues after a restart. Nobody else reads it.
package positions

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/text/jsontext"
)

// Name of the view.
const Name = "positions"

// Published is how the view is stored. Nobody but the ingester reads it.
var Published = store.ViewType[*market.Positions]{Name: Name, Write: encode, Read: decode}

// encode prunes the positions and writes them, sorted:
//
//	{"newest":ms,"coins":{"BTC":["<40 hex digits> <size> <ms> <seq> <tid>", ...], ...}}
func encode(p *market.Positions) []byte {
	p.Prune()
	b := append(make([]byte, 0, 64+100*p.Len()), `{"newest":`...)
	b = strconv.AppendInt(b, p.Newest(), 10)
	b = append(b, `,"coins":{`...)
	coin, open := "", false
	for one := range p.All() {
		if !open || one.Coin != coin {
			if open {
				b = append(b, `],`...)
			}
			coin, open = one.Coin, true
			b = append(jsontext.AppendString(b, coin), `:[`...)
		} else {
			b = append(b, ',')
		}
		b = hex.AppendEncode(append(b, '"'), one.Account[:])
		b = market.AppendText(append(b, ' '), one.Size)
		b = strconv.AppendInt(append(b, ' '), one.Last.Time, 10)
		b = strconv.AppendInt(append(b, ' '), one.Last.Seq, 10)
		b = strconv.AppendInt(append(b, ' '), one.Last.Tid, 10)
		b = append(b, '"')
	}
	if open {
		b = append(b, ']')
	}
	return append(b, `}}`...)
}

func decode(body []byte) (*market.Positions, error) {
	var w struct {
		Newest int64               `json:"newest"`
		Coins  map[string][]string `json:"coins"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("read positions: %w", err)
	}
	p := new(market.Positions)
	p.RestoreNewest(w.Newest)
	for coin, lines := range w.Coins {
		for _, line := range lines {
			one, err := parse(line)
			if err != nil {
				return nil, fmt.Errorf("read a position in %s: %w", coin, err)
			}
			one.Coin = coin
			p.Restore(one)
		}
	}
	return p, nil
}

func parse(line string) (p market.Position, err error) {
	fields := strings.Split(line, " ")
	if len(fields) != 5 || len(fields[0]) != 2*len(p.Account) {
		return p, fmt.Errorf("%.100q is none", line)
	}
	if _, err = hex.Decode(p.Account[:], []byte(fields[0])); err != nil {
		return p, err
	}
	if p.Size, err = market.ParseStored(fields[1]); err != nil {
		return p, err
	}
	for i, to := range [...]*int64{&p.Last.Time, &p.Last.Seq, &p.Last.Tid} {
		if *to, err = strconv.ParseInt(fields[2+i], 10, 64); err != nil {
			return p, err
		}
	}
	return p, nil
}
