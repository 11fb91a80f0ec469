package channel

import (
	"bytes"
	"errors"
	"strconv"

	"quotary/shared/catalog"
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
