package channel

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/text/strictjson"
)

// member is a member of a subscription, beside its type.
type member struct {
	// read takes it from the message.
	read func(strictjson.Object, *Subscription) error
	// key is its part of the key; "" for none.
	key func(*Subscription) string
}

var (
	coin = member{
		func(o strictjson.Object, s *Subscription) error {
			var c catalog.Coin
			err := o.Text("coin", c.UnmarshalText)
			s.Coin = string(c)
			return err
		},
		func(s *Subscription) string { return s.Coin },
	}
	// anyPerpetual is a coin in which accounts hold positions; without one all of them.
	anyPerpetual = member{
		func(o strictjson.Object, s *Subscription) error {
			if raw, ok := o["coin"]; !ok || string(raw) == "null" {
				return nil
			}
			if err := coin.read(o, s); err != nil {
				return err
			}
			if market.IsSpot(s.Coin) {
				return strictjson.Errorf("coin %s is not accepted: it must be a perpetual, such as BTC or dex:GOLD, or absent for all of them", s.Coin)
			}
			return nil
		},
		coin.key,
	}
	// minValue is the least value of an event, in US dollars, as a number or as text.
	minValue = member{
		func(o strictjson.Object, s *Subscription) error {
			raw, ok := o["minValue"]
			if !ok || string(raw) == "null" {
				return nil
			}
			least, err := market.ParseDecimal(strings.Trim(string(raw), `"`))
			if err != nil || least.IsNeg() {
				return strictjson.Errorf("minValue %s is not accepted: it must be a value in US dollars, 0 or more, such as 100000", strictjson.Shown(raw))
			}
			if s.MinValue = ""; least.IsPos() {
				s.MinValue = least.String()
			}
			return nil
		},
		func(s *Subscription) string {
			if s.MinValue == "" {
				return ""
			}
			return "minValue=" + s.MinValue // no coin has such a name
		},
	}
	interval = member{
		func(o strictjson.Object, s *Subscription) (err error) {
			s.Interval, err = o.Choice("interval", "1s", "5s", "15s", "1m", "15m", "1h", "4h")
			return err
		},
		func(s *Subscription) string { return s.Interval },
	}
	figures = member{
		func(o strictjson.Object, s *Subscription) (err error) {
			s.NSigFigs, err = o.Number("nSigFigs", 2, 3, 4, 5)
			return err
		},
		func(s *Subscription) string { return unlessZero(s.NSigFigs) },
	}
	mantissa = member{
		func(o strictjson.Object, s *Subscription) (err error) {
			s.Mantissa, err = o.Number("mantissa", 1, 2, 5)
			return err
		},
		func(s *Subscription) string { return unlessZero(s.Mantissa) },
	}
	// fast asks for less of a book, as it asks the venue for less of it more often.
	fast = member{
		func(o strictjson.Object, s *Subscription) (err error) {
			s.Fast, err = o.Bool("fast")
			return err
		},
		func(s *Subscription) string {
			if s.Fast {
				return "fast"
			}
			return ""
		},
	}
	user = member{
		func(o strictjson.Object, s *Subscription) error {
			var a catalog.Address
			err := o.Text("user", a.UnmarshalText)
			s.User = string(a)
			return err
		},
		func(s *Subscription) string { return s.User },
	}
	dex = member{
		func(o strictjson.Object, s *Subscription) error {
			if raw, ok := o["dex"]; !ok || string(raw) == "null" {
				return nil
			}
			return o.Text("dex", func(text []byte) error {
				s.Dex = string(text)
				if !ValidDex(s.Dex) {
					return errors.New(DexRule)
				}
				return nil
			})
		},
		func(s *Subscription) string { return s.Dex },
	}
	// aggregateByTime is what clients of the venue may send: only false is served.
	aggregateByTime = member{
		func(o strictjson.Object, _ *Subscription) error {
			raw := o["aggregateByTime"]
			if raw != nil && !bytes.Equal(raw, []byte("false")) && !bytes.Equal(raw, []byte("null")) {
				return strictjson.Errorf("aggregateByTime %s is not accepted: fills are pushed one by one, it must be false", strictjson.Shown(raw))
			}
			return nil
		},
		func(*Subscription) string { return "" },
	}
)

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
