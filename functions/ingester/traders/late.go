package traders

import (
	"maps"
	"math"

	"quotary/shared/data/traderhistory"
	"quotary/shared/table"
)

// Who is made again from its logs is noted with the beginning of these, and may have done something in
// every hour since: then the files of all of them would be written again, which takes an hour. So in a
// publication the files of so many hours are looked at that are no recent ones.
const (
	recentHours = 48
	lateHours   = 240
	// mostLate is how many accounts wait for that at most: of more, all is done at once.
	mostLate = 20_000
)

// postpone leaves what was done before the recent hours to the next publications, as far as it is not
// among the hours of this one, and adds whose turn that is to those that are looked at.
func (h *history) postpone(now int64, wanted addresses) {
	if len(h.next.Units) == 0 {
		return // all files are made for the first time
	}
	late, recent := &h.next.Late, now-recentHours*hourMs
	for a, since := range h.since {
		if since < recent {
			late.Next.Add(a, since)
		}
	}
	if len(late.Next)+len(late.Now) > mostLate {
		for _, of := range [...]traderhistory.Accounts{late.Now, late.Next} {
			for a, since := range of {
				h.since[a] = min(since, h.sinceOf(a))
				wanted[a] = true
			}
		}
		*late = traderhistory.Late{}
		return
	}
	for a := range late.Next {
		if _, noted := h.since[a]; noted {
			h.since[a] = max(h.since[a], recent)
		}
	}
	if len(late.Now) == 0 {
		late.Now, late.Next, late.Before = late.Next, nil, recent
	}
	if len(late.Now) == 0 {
		*late = traderhistory.Late{}
		return
	}
	h.lateTo = late.Before
	late.Before -= h.lateHours * hourMs
	h.lateFrom, h.late = late.Before, maps.Clone(late.Now)
	for a, since := range h.late {
		wanted[a] = true
		if since >= h.lateFrom {
			delete(late.Now, a) // it is done then
		}
	}
}

// sinceOf is from when on more is known of what an account did, as far as that is looked at whatever there is.
func (h *history) sinceOf(a table.Address) int64 {
	if since, ok := h.since[a]; ok {
		return since
	}
	return math.MaxInt64
}

// looksAt reports whether the files are to have what an account did in an hour.
func (h *history) looksAt(a table.Address, hour int64) bool {
	if hour >= h.sinceOf(a) {
		return true
	}
	since, late := h.late[a]
	return late && hour >= max(since, h.lateFrom) && hour < h.lateTo
}

// from is the least of a time and those since which more is known of what an account did, ms.
func (h *history) from(ms int64, a table.Address) int64 {
	if since, late := h.late[a]; late {
		ms = min(ms, max(since, h.lateFrom))
	}
	return min(ms, h.sinceOf(a))
}
