package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/alerts"
	"quotary/shared/data/coins"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store"
)

// keeper keeps the alerts of sub-keys.
type keeper struct {
	log     *store.Log
	pairs   *store.View[pairs.View]
	tickers *store.View[pairtickers.View]
	coins   *store.View[coins.View]
	rates   *store.View[rates.View]
	alerts  *alerts.Store
}

func newKeeper(log *store.Log, views *store.Views, kept *alerts.Store, clock func() time.Time) *keeper {
	return &keeper{
		log: log, pairs: pairs.Published.Open(views, clock), tickers: pairtickers.Published.Open(views, clock), coins: coins.Published.Open(views, clock), rates: rates.Published.Open(views, clock), alerts: kept,
	}
}

// add sets up an alert of the calling key.
func (k *keeper) add(ctx context.Context, in catalog.AddAlertIn) (out catalog.AlertResult, err error) {
	of, err := market.ParseAlertType(in.SubType)
	if err != nil {
		return out, api.BadParameter("invalid subType: %v", err)
	}
	if len(in.Remark) > alerts.MostRemark {
		return out, api.BadParameter("invalid remark: at most %d bytes are kept", alerts.MostRemark)
	}
	key := strings.ToLower(string(in.Symbol))
	listed, err := k.pairs.Get(ctx)
	if err != nil {
		return out, err
	}
	if pair, ok := listed.Lookup(key); !ok || !pair.Followed {
		return out, api.BadParameter("invalid symbol: %.64q is no pair of a centralised exchange that is followed all the time", key)
	}
	prices, err := store.OrZero(k.tickers.Get(ctx))
	if err != nil {
		return out, err
	}
	alert := alerts.Alert{ID: alerts.IDOf(key, of), Pair: key, Type: of.String(), Remark: in.Remark, Time: api.Now(ctx).UnixMilli()}
	if t, ok := prices.Lookup(key); ok && t.Last.IsPos() {
		alert.Price = t.Last.String()
	}
	caller := api.Caller(ctx)
	err = k.alerts.Add(ctx, caller.Distributor, caller.AccessKey, &alert)
	if errors.Is(err, alerts.ErrTooMany) {
		return out, api.BadParameter("the key has %d alerts, as many as one may have: remove one first", alerts.Most)
	}
	return catalog.AlertResult{Result: "true"}, err
}

// remove removes an alert of the calling key.
func (k *keeper) remove(ctx context.Context, in catalog.RemoveAlertIn) (catalog.AlertResult, error) {
	caller := api.Caller(ctx)
	err := k.alerts.Remove(ctx, caller.Distributor, caller.AccessKey, in.ID)
	if errors.Is(err, alerts.ErrNone) {
		return catalog.AlertResult{Result: "false"}, nil
	}
	return catalog.AlertResult{Result: "true"}, err
}

// list returns the alerts of the calling key, newest first.
func (k *keeper) list(ctx context.Context, _ catalog.SetAlertsIn) (catalog.SetAlertList, error) {
	list, err := k.alerts.List(ctx, api.Caller(ctx).AccessKey)
	out := catalog.SetAlertList{List: make([]catalog.SetAlert, len(list)), Count: strconv.Itoa(len(list))}
	slices.SortFunc(list, func(a, b alerts.Alert) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.ID, b.ID)) })
	for i, a := range list {
		one := catalog.SetAlert{ID: strconv.FormatInt(a.ID, 10), TpKey: a.Pair, SubType: a.Type, SetTime: strconv.FormatInt(a.Time/1000, 10), Remark: a.Remark}
		if a.Price != "" {
			one.SetPrice = &a.Price
		}
		out.List[i] = one
	}
	return out, err
}

// fired returns what went off of the calling key's alerts, newest first.
func (k *keeper) fired(ctx context.Context, _ catalog.FiredAlertsIn) (catalog.FiredAlertList, error) {
	list, err := alerts.Newest(ctx, k.log, api.Caller(ctx).AccessKey, api.Now(ctx))
	out := catalog.FiredAlertList{List: make([]catalog.FiredAlert, len(list))}
	for i, f := range list {
		side := "sell"
		if f.Side == market.Buy {
			side = "buy"
		}
		out.List[i] = catalog.FiredAlert{TpKey: f.Pair, SubType: f.Type, Side: side, EwsPrice: f.Px, EwsTime: strconv.FormatInt(f.Time/1000, 10)}
	}
	return out, err
}

// choices returns what alerts may wait for.
func choices(_ context.Context, in catalog.AlertChoicesIn) (catalog.AlertChoiceList, error) {
	named := func(cn, en string) string {
		if in.Lan == "cn" {
			return cn
		}
		return en
	}
	out := catalog.AlertChoiceList{Period: market.AlertMinutes[:]}
	for i := range market.AlertIndicators {
		of := &market.AlertIndicators[i]
		name := named(of.Cn, of.En)
		choice := catalog.AlertChoice{IndicatorKey: of.Key, Label: name, Name: name, Sort: int64(i + 1)}
		for _, t := range of.Triggers {
			label := named(t.Cn, t.En)
			trigger := catalog.AlertTrigger{
				Label: label, Name: label, SignalType: of.Key + ":{period}:" + t.Key, TriggerKey: t.Key,
				ParamConfig: []catalog.AlertTriggerParam{}, SecondTriggerType: []catalog.AlertSecondTrigger{},
			}
			for _, p := range t.Params {
				trigger.ParamConfig = append(trigger.ParamConfig, paramOf(&p, named(p.Cn, p.En)))
			}
			choice.Config = append(choice.Config, trigger)
		}
		out.Data = append(out.Data, choice)
	}
	return out, nil
}

func paramOf(p *market.AlertParam, label string) catalog.AlertTriggerParam {
	if p.Price {
		return catalog.AlertTriggerParam{Key: p.Key, Label: label, Type: "price"}
	}
	fallback := strconv.FormatInt(p.Default, 10)
	return catalog.AlertTriggerParam{Key: p.Key, Label: label, Type: "int", Default: &fallback, Min: &p.Min, Max: &p.Max}
}
