package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/service/venuerelay"
)

// weighsUsual is what the venue counts most questions by.
const weighsUsual = 20

// relayed is what the venue itself answers.
func (i *info) relayed(ctx context.Context, kind *catalog.Variant, in *catalog.InfoIn) (json.RawMessage, error) {
	if in.TokenID != "" {
		if _, ok := market.ParseCloid(in.TokenID); !ok { // which have the same form
			return nil, api.BadParameter("invalid tokenId: it must be %s", members["tokenId"].kind)
		}
	}
	answer, err := i.relay.Ask(ctx, kind.Weight, question(kind, in))
	if errors.Is(err, venuerelay.ErrRefused) {
		return nil, api.BadParameter("the exchange does not take this question of type %s: see its own documentation for the members", kind.Name)
	}
	return answer, err
}

// question is what the venue is asked: the members that the type takes, and nothing else.
func question(kind *catalog.Variant, in *catalog.InfoIn) map[string]any {
	q := map[string]any{"type": kind.Name}
	for _, list := range [][]string{kind.Needs, kind.Takes} {
		for _, name := range list {
			if value := members[name].value(in); value != nil {
				q[name] = value
			}
		}
	}
	return q
}

// partly are the derived types of which the venue alone knows some figures.
var partly = map[string]bool{"userFees": true, "activeAssetData": true, "webData2": true, "portfolio": true}

// completed is an answer with the figures that the venue alone knows, where it may be asked and
// answers; they are null else.
func (i *info) completed(ctx context.Context, kind *catalog.Variant, in *catalog.InfoIn, answer json.RawMessage) (json.RawMessage, error) {
	provisional := hasProvisional(kind.Name, answer)
	if !provisional && (!partly[kind.Name] || !bytes.Contains(answer, null)) {
		return answer, nil
	}
	weight := weighsUsual
	if provisional {
		weight = weighsFills
	}
	ctx, done := context.WithTimeout(ctx, completedWithin)
	defer done()
	said, err := i.relay.Ask(ctx, weight, question(kind, in))
	switch {
	case err != nil:
		return answer, nil //nolint:nilerr // which is what is known without
	case provisional && reachesAsFar(said, answer): // the venue lists the same fills, and those that are no trades
		return said, nil
	case provisional:
		return answer, nil
	}
	return fill(answer, said), nil
}

// weighsFills is what the venue counts the fills of an account by, of which it lists as many as this service.
const weighsFills = weighsUsual + maxFills/20

// reachesAsFar reports whether what the venue says of the fills of an account begins as early as an answer: it keeps some
// thousands of each account.
func reachesAsFar(said, answer json.RawMessage) bool {
	oldest := func(list json.RawMessage) int64 {
		var fills []struct {
			Time int64 `json:"time"`
		}
		if json.Unmarshal(list, &fills) != nil || len(fills) == 0 {
			return math.MaxInt64
		}
		return min(fills[0].Time, fills[len(fills)-1].Time)
	}
	return oldest(said) <= oldest(answer)
}

// hasProvisional reports whether fills are listed that are known by their public trades alone: each other one has
// the number of its order.
func hasProvisional(kind string, answer json.RawMessage) bool {
	return (kind == "userFills" || kind == "userFillsByTime") && bytes.Contains(answer, []byte(`"oid":null`))
}

// completedWithin is how long an answer that is there waits for what would complete it.
const completedWithin = 2 * time.Second

var null = []byte("null")

// fill is an answer in which each null is what the venue says in the same place: of an object in its
// members, of a list in the elements that are called the same.
func fill(answer, said json.RawMessage) json.RawMessage {
	answer, said = bytes.TrimSpace(answer), bytes.TrimSpace(said)
	switch {
	case bytes.Equal(answer, null):
		return said
	case len(said) == 0 || answer[0] != said[0] || !bytes.Contains(answer, null):
		return answer
	case answer[0] == '{':
		return fillObject(answer, said)
	case answer[0] == '[':
		return fillList(answer, said)
	}
	return answer
}

func fillObject(answer, said json.RawMessage) json.RawMessage {
	var ours, theirs map[string]json.RawMessage
	if json.Unmarshal(answer, &ours) != nil || json.Unmarshal(said, &theirs) != nil {
		return answer
	}
	for name, value := range ours {
		if other, ok := theirs[name]; ok {
			ours[name] = fill(value, other)
		}
	}
	filled, err := api.Encode(ours)
	if err != nil {
		return answer
	}
	return filled
}

// fillList fills the elements of a list. One that is called nothing is of the same place.
func fillList(answer, said json.RawMessage) json.RawMessage {
	var ours, theirs []json.RawMessage
	if json.Unmarshal(answer, &ours) != nil || json.Unmarshal(said, &theirs) != nil {
		return answer
	}
	called := map[string]json.RawMessage{}
	for n, element := range theirs {
		called[nameOf(n, element)] = element
	}
	for n, element := range ours {
		if other, ok := called[nameOf(n, element)]; ok {
			ours[n] = fill(element, other)
		}
	}
	filled, err := api.Encode(ours)
	if err != nil {
		return answer
	}
	return filled
}

// nameOf is what an element of a list is called: by its date, or by its first element if that is a
// text, else by its place.
func nameOf(place int, element json.RawMessage) string {
	var day struct {
		Date string `json:"date"`
	}
	if json.Unmarshal(element, &day) == nil && day.Date != "" {
		return day.Date
	}
	var list []json.RawMessage
	if json.Unmarshal(element, &list) == nil && len(list) > 0 && len(list[0]) > 0 && list[0][0] == '"' {
		return string(list[0])
	}
	return strconv.Itoa(place)
}

// asTheVenue answers a question exactly as the venue does.
func (i *info) asTheVenue(ctx context.Context, in catalog.InfoIn) (catalog.VenueAnswer, error) {
	if in.Type == "perpDexs" {
		answer, err := i.relayed(ctx, &catalog.Variant{Name: in.Type, Weight: weighsUsual}, &in)
		return catalog.VenueAnswer(answer), err
	}
	answer, err := i.answer(ctx, in)
	switch {
	case err != nil:
		return nil, err
	case in.Type == "orderStatus":
		answer = wrapStatus(answer)
	case hasProvisional(in.Type, answer): // the venue has no such rows
		return nil, api.NotReady(confirmedAfter, "some of these fills are known by their public trades alone until the venue has published their hour; try again later, or ask %s, where what is not known is null", catalog.Info.Path)
	}
	return catalog.VenueAnswer(answer), nil
}

// confirmedAfter is when to ask again for fills that are provisional.
const confirmedAfter = 5 * time.Minute

// wrapStatus is the status of an order in the venue's own form.
func wrapStatus(status json.RawMessage) json.RawMessage {
	if string(status) == "null" {
		return json.RawMessage(`{"status":"unknownOid"}`)
	}
	return append(append(json.RawMessage(`{"status":"order","order":`), status...), '}')
}
