package followrequests

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"quotary/shared/store"
)

// waitTries is how many places a request tries to take that another may take at that moment.
const waitTries = 2

// Recent returns which things, of which [Store.Want] has just been told, were asked for so
// lately by a distributor that they are worth waiting for: not those that a request, of this
// instance or another, has waited for already.
func (s *Store) Recent(distributor string, ids []string, now time.Time) (recent []string) {
	of, ok := s.asked.Get(distributor)
	if !ok {
		return nil
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	for _, id := range ids {
		if t, ok := of.things[id]; ok && t.age(now) < s.Wait {
			recent = append(recent, id)
		}
	}
	return recent
}

// MayWait reports whether a request of a distributor may wait from now on, for [Kind.Wait] at
// most. There are [Kind.Waits] places for it, each a document with the time when it was taken,
// so that no number of instances together has more requests that wait. Where the store
// refuses, nobody waits.
func (s *Store) MayWait(ctx context.Context, distributor string, now time.Time) bool {
	of := s.rememberedOf(distributor)
	if of.isFull(now) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	places := make([]store.Document, s.Waits)
	for i := range places {
		places[i].ID = strconv.Itoa(i)
	}
	soonest := now.Add(s.Wait)
	for one, err := range s.waits.List(ctx, distributor) {
		if err != nil {
			return false
		}
		var taken body
		_ = json.Unmarshal(one.Body, &taken) // as of a thing
		i := slices.IndexFunc(places, func(p store.Document) bool { return p.ID == one.ID })
		if i < 0 {
			continue
		}
		if free := time.UnixMilli(taken.Time).Add(s.Wait); now.Before(free) {
			places = slices.Delete(places, i, i+1)
			if free.Before(soonest) {
				soonest = free
			}
		} else {
			places[i] = one
		}
	}
	if len(places) == 0 {
		of.fill(soonest)
		return false
	}
	rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for _, place := range places[:min(waitTries, len(places))] {
		if s.take(ctx, distributor, place, now) == nil {
			return true
		}
	}
	return false
}

// take takes a place, which is an error where another request has.
func (s *Store) take(ctx context.Context, distributor string, place store.Document, now time.Time) (err error) {
	taken := body{Time: now.UnixMilli()}.json()
	if place.Revision == "" {
		_, err = s.waits.Create(ctx, distributor, place.ID, taken)
	} else {
		_, err = s.waits.Replace(ctx, distributor, place.ID, place.Revision, taken)
	}
	return err
}

func (a *remembered) isFull(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Before(a.full)
}

func (a *remembered) fill(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.full = until
}
