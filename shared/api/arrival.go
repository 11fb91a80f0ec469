package api

import (
	"errors"

	"quotary/shared/catalog"
	"quotary/shared/data/arrivals"
	"quotary/shared/market"
)

// TooFar is the refusal of a cursor behind which too much lies that was late; another error stays.
func TooFar(err error) error {
	if errors.Is(err, arrivals.ErrTooFar) {
		return BadParameter("invalid cursor: too much was late since then: ask without it, and go on by time")
	}
	return err
}

// ArrivalCursor reads a cursor of arrival: that of a frame, which must be of one of some events, or
// of an answer, which must be one about the same page. ok is false where the cursor is one of
// rows, or there is none.
func ArrivalCursor(c catalog.EventCursor, page string, of ...string) (at market.ArrivalCursor, ok bool, err error) {
	text := c.Arrived()
	if text == "" {
		return at, false, nil
	}
	at, err = market.ParseArrivalCursor(text)
	for _, one := range of {
		if err == nil && at.Is(one) && at.LeadsOn(page) {
			return at.OfPage(page), true, nil
		}
	}
	return at, false, BadParameter("invalid cursor: must be the %s of an earlier answer to the same request, or the cursor of a frame about the same", catalog.HeaderNextCursor)
}
