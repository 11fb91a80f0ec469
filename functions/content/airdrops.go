package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/airdrops"
	"quotary/shared/store"
)

// airdropHandlers answers from what is stored of airdrops. Where nothing is, there are none.
type airdropHandlers struct {
	log    *store.Log
	newest *store.View[airdrops.View]
}

func (c *airdropHandlers) register(f *api.Family) {
	api.Handle(f, catalog.AirdropList, c.list)
	api.Handle(f, catalog.AirdropListOlder, c.list)
	api.Handle(f, catalog.AirdropDetail, c.detail)
	api.Handle(f, catalog.AirdropBanner, c.banner)
	api.Handle(f, catalog.AirdropExchanges, c.exchanges)
	api.Handle(f, catalog.AirdropCalendar, c.calendar)
}

// programme is a source as it is stored: clients know two of them under another name.
func programme(name string) string {
	if pool, ok := strings.CutPrefix(name, "bitget_"); ok {
		return "venue_" + pool
	}
	return name
}

// exchangeKey is the key of an exchange as airdrops are stored under it: of OKX clients
// also know the key of its spot pairs.
func exchangeKey(name string) string {
	if name = strings.ToLower(name); name == "okex" {
		return "okx"
	}
	return name
}

// list returns a page of those airdrops that are selected.
func (c *airdropHandlers) list(ctx context.Context, in catalog.AirdropListIn) (catalog.Airdrops, error) {
	out := catalog.Airdrops{List: []catalog.Airdrop{}}
	v, err := store.OrZero(c.newest.Get(ctx))
	if err != nil {
		return out, err
	}
	source, exchange, activity, lan := programme(in.Source), exchangeKey(in.Exchange), strings.ToLower(in.ActivityType), airdrops.Language(in.Lan)
	now := api.Now(ctx)
	for a := range v.Shown() {
		status := a.StatusAt(now)
		if source != "all" && a.Source != source || exchange != "" && exchangeKey(a.Exchange) != exchange || activity != "" && a.ActivityType != activity ||
			(status == airdrops.Finished) != (in.Status == "finished") {
			continue
		}
		out.Count++
		if (out.Count-1)/in.PageSize == in.Page-1 {
			out.List = append(out.List, catalog.Airdrop{
				AirdropID: a.AirdropID, ProjectName: a.Project(lan), TokenSymbol: a.TokenSymbol, Exchange: a.Exchange, ActivityType: a.ActivityType,
				Status: int64(status), Source: a.Source,
			})
		}
	}
	return out, nil
}

// detail returns one airdrop with its text.
func (c *airdropHandlers) detail(ctx context.Context, in catalog.AirdropDetailIn) (catalog.AirdropArticle, error) {
	v, err := store.OrZero(c.newest.Get(ctx))
	if err != nil {
		return catalog.AirdropArticle{}, err
	}
	a, ok := v.Find(programme(in.Type), in.Token)
	if !ok {
		return catalog.AirdropArticle{}, api.NotFound("no airdrop of the type %s has this token: airdrop/list shows airdropId and source, which is the type", in.Type)
	}
	lan := airdrops.Language(in.Lan)
	content, err := airdrops.Content(ctx, c.log, a, lan)
	if err != nil {
		return catalog.AirdropArticle{}, err
	}
	return catalog.AirdropArticle{
		Title: a.Title(lan), ActivityType: a.ActivityType, ActivityTypeName: a.Activity(lan), Exchange: a.Exchange, ExchangeName: a.ExchangeTitle(lan),
		ProjectID: a.ProjectID, PublishDate: a.Published(), SourceURL: a.SourceURL, ContentMD: content,
	}, nil
}

// banner returns the airdrops to put forward.
func (c *airdropHandlers) banner(ctx context.Context, in catalog.AirdropBannerIn) (catalog.AirdropBanners, error) {
	v, err := store.OrZero(c.newest.Get(ctx))
	if err != nil {
		return catalog.AirdropBanners{}, err
	}
	list, lan := []catalog.AirdropBannerItem{}, airdrops.Language(in.Lan)
	for _, a := range v.Banners(api.Now(ctx), int(in.Limit)) {
		list = append(list, catalog.AirdropBannerItem{
			AirdropID: a.AirdropID, Title: a.Title(lan), Subtitle: a.Subtitle(lan), Description: a.Description(lan),
			ActionURL: cmp.Or(a.ActionURL, a.SourceURL), BackgroundImage: a.BackgroundImage, ButtonText: a.Button(lan),
		})
	}
	return catalog.AirdropBanners{Count: int64(len(list)), Banners: list, List: list}, nil
}

// exchanges returns by what airdrops can be selected.
func (c *airdropHandlers) exchanges(ctx context.Context, in catalog.AirdropExchangesIn) (catalog.AirdropFilters, error) {
	out := catalog.AirdropFilters{Exchanges: []catalog.AirdropExchange{}, ActivityTypes: []catalog.AirdropActivity{}}
	v, err := store.OrZero(c.newest.Get(ctx))
	if err != nil {
		return out, err
	}
	lan, now := airdrops.Language(in.Lan), api.Now(ctx)
	exchanges, activities := tally{}, tally{}
	for a := range v.Shown() {
		exchanges.add(a.Exchange, a.ExchangeTitle(lan), a.StatusAt(now))
		activities.add(a.ActivityType, a.Activity(lan), a.StatusAt(now))
	}
	for _, n := range exchanges.sorted() {
		out.Exchanges = append(out.Exchanges, catalog.AirdropExchange{Exchange: n.key, ExchangeName: n.name, Count: n.all, OngoingCount: n.ongoing})
	}
	for _, n := range activities.sorted() {
		out.ActivityTypes = append(out.ActivityTypes, catalog.AirdropActivity{ActivityType: n.key, ActivityTypeName: n.name, Count: n.all, OngoingCount: n.ongoing})
	}
	return out, nil
}

// tally counts airdrops by a key.
type tally map[string]*number

// number is how many airdrops have a key, and what the first of them calls it.
type number struct {
	key, name    string
	all, ongoing int64
}

func (t tally) add(key, name string, status airdrops.Status) {
	if t[key] == nil {
		t[key] = &number{key: key, name: name}
	}
	t[key].all++
	if status != airdrops.Finished {
		t[key].ongoing++
	}
}

// sorted returns the numbers, the largest first.
func (t tally) sorted() []*number {
	return slices.SortedFunc(maps.Values(t), func(a, b *number) int { return cmp.Or(cmp.Compare(b.all, a.all), cmp.Compare(a.key, b.key)) })
}
