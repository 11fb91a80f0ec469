package indexsite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// holder is an entity of our own making that holds a coin.
type holder struct {
	coin, name, key, kind string
	price                 int64 // of a coin, US dollars, about
	monthly               int64 // coins that it buys in a month, about; 0 of one that reports what it holds
}

// holders are those of which there is a history. The company of number 2 files what it holds.
var holders = []holder{
	{"BTC", "Simulated Treasury Company", "i:mstr:nasdaq", "public-companies", 90_000, 900},
	{"BTC", "Simulated Games", "i:0434:hkex", "public-companies", 90_000, 40},
	{"BTC", "Republic of Simulation", "", "governments", 90_000, 0},
	{"BTC", "Simulated Bitcoin Trust", "i:gbtc:nasdaq", "trusts", 90_000, 0},
	{"ETH", "Simulated Treasury Company", "i:mstr:nasdaq", "public-companies", 3_000, 4_000},
	{"ETH", "Simulated Ether Trust", "i:ethe:nasdaq", "trusts", 3_000, 0},
}

// months is how far the histories go back.
const months = 14

// Treasuries is a drop of what holders bought, sold and held until yesterday: those that buy do so
// on a day of each month, and sell in every fifth; those that report do so on the last days.
func (s *Site) Treasuries() []byte {
	var lines bytes.Buffer
	today := s.cfg.Now().UTC().Truncate(24 * time.Hour)
	first := time.Date(today.Year(), today.Month()-months, 1, 0, 0, 0, 0, time.UTC)
	for _, h := range holders {
		line := map[string]string{"coin": h.coin, "name": h.name, "entity_type": h.kind}
		if h.key != "" {
			line["key"] = h.key
		}
		if h.monthly == 0 {
			s.reports(&lines, line, h, today)
			continue
		}
		for month := range months + 1 {
			at := first.AddDate(0, month, int(s.draw(27, h.name+h.coin+" day", int64(month))))
			if !at.Before(today) {
				break
			}
			amount := h.monthly/2 + s.draw(h.monthly, h.name+h.coin+" amount", int64(month))
			price := h.price*8/10 + s.draw(h.price*4/10, h.name+h.coin+" price", int64(month))
			line["date"], line["type"], line["amount"], line["price_usd"] = at.Format(time.DateOnly), "buy", strconv.FormatInt(amount, 10), strconv.FormatInt(price, 10)
			if month%5 == 4 {
				line["type"], line["amount"] = "sell", strconv.FormatInt(amount/4+1, 10)
			}
			writeLine(&lines, line)
		}
	}
	return lines.Bytes()
}

// reports writes what a holder had on days of the last month.
func (s *Site) reports(lines *bytes.Buffer, line map[string]string, h holder, today time.Time) {
	for ago := 30; ago >= 1; ago-- {
		at := today.AddDate(0, 0, -ago)
		held := 200_000 + s.draw(1_000, h.name, at.Unix())
		line["date"], line["type"], line["amount"] = at.Format(time.DateOnly), "holding", fmt.Sprintf("%d.5", held)
		writeLine(lines, line)
	}
}

func writeLine(lines *bytes.Buffer, line map[string]string) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // texts encode
	}
	lines.Write(append(text, '\n'))
}
