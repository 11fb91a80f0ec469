package api

import (
	"quotary/shared/catalog"
	"quotary/shared/market"
)

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
