package main

import (
	"context"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/flashes"
	"quotary/shared/data/flashindex"
	"quotary/shared/store"
)

// flashHandlers answers from what is stored of flashes and posts. Where nothing is, there are none.
type flashHandlers struct {
	log     *store.Log
	newest  *store.View[flashes.View]
	indexes map[string]*flashindex.Reader // by platform
}

func openFlashes(log *store.Log, views *store.Views, clock func() time.Time) *flashHandlers {
	s := &flashHandlers{log: log, newest: flashes.Published.Open(views, clock), indexes: map[string]*flashindex.Reader{}}
	for _, platform := range []string{flashes.House, flashes.Social} {
		s.indexes[platform] = flashindex.Open(views, clock, platform)
	}
	return s
}

func (s *flashHandlers) register(f *api.Family) {
	api.Handle(f, catalog.Flashes, s.flashes)
	api.Handle(f, catalog.FlashList, s.flashList)
	api.Handle(f, catalog.ListingFlashes, s.listings)
	api.Handle(f, catalog.FlashSearch, s.search)
	api.Handle(f, catalog.FlashPages, s.pages)
	api.Handle(f, catalog.FlashDetail, s.detail)
}

// Lengths of lists whose requests name none.
const (
	flashesMost   = 50
	flashListMost = 100
)

// Chinese, as clients name it. What has no version in traditional Chinese is shown in the other
// one to who asks for that.
const (
	simplified  = "cn"
	traditional = "tc"
)

// listed returns the flashes that are selected: from the view, and from the log where it
// does not reach back far enough.
func (s *flashHandlers) listed(ctx context.Context, sel flashes.Selection) ([]flashes.Flash, error) {
	v, err := store.OrZero(s.newest.Get(ctx))
	if err != nil {
		return nil, err
	}
	return s.listedOf(ctx, v, sel)
}

// listedOf returns those of a version of the view.
func (s *flashHandlers) listedOf(ctx context.Context, v flashes.View, sel flashes.Selection) ([]flashes.Flash, error) {
	if sel.Language == traditional {
		return s.listedTraditional(ctx, v, sel)
	}
	if page, whole := v.Select(sel); whole {
		return page, nil
	}
	return flashes.Before(ctx, s.log, sel)
}

// listedTraditional returns those in traditional Chinese and, in the place of what has no
// version in it, those in the other one. Both are from the view or both from the log, which
// is ahead of it, and versions are read last: so a flash is shown in one of the two at any
// moment.
func (s *flashHandlers) listedTraditional(ctx context.Context, v flashes.View, sel flashes.Selection) ([]flashes.Flash, error) {
	others := sel
	others.Language, others.Without = simplified, traditional
	page, whole := v.Select(others)
	versions, wholeVersions := v.Select(sel)
	if !whole || !wholeVersions {
		var err error
		if page, err = flashes.Before(ctx, s.log, others); err != nil {
			return nil, err
		}
		if versions, err = flashes.Before(ctx, s.log, sel); err != nil {
			return nil, err
		}
	}
	replaced := map[int64]bool{}
	for i := range versions {
		replaced[versions[i].VersionOf] = true
	}
	page = append(slices.DeleteFunc(page, func(f flashes.Flash) bool { return replaced[f.ID] }), versions...)
	slices.SortFunc(page, func(a, b flashes.Flash) int { return a.Compare(&b) })
	return page[:min(len(page), sel.Limit)], nil
}

// flashes returns the newest ones.
func (s *flashHandlers) flashes(ctx context.Context, in catalog.FlashesIn) ([]catalog.Flash, error) {
	list, err := s.listed(ctx, flashes.Selection{Platform: flashes.House, Language: in.Language, Limit: flashesMost})
	out := make([]catalog.Flash, len(list))
	for i := range list {
		f := &list[i]
		out[i] = catalog.Flash{ID: f.ID, Title: f.Title, Content: f.Content, Language: f.Language, CreateTime: f.Time, Columnist: columnist("", f.Source, f.Avatar)}
	}
	return out, err
}

// flashList returns those from a time on, with their kinds.
func (s *flashHandlers) flashList(ctx context.Context, in catalog.FlashListIn) ([]catalog.TypedFlash, error) {
	list, err := s.listed(ctx, flashes.Selection{Platform: flashes.House, Language: in.Language, From: in.CreateTime.Time(), Limit: flashListMost})
	out := make([]catalog.TypedFlash, len(list))
	for i := range list {
		f := &list[i]
		out[i] = catalog.TypedFlash{
			ID: f.ID, Title: f.Title, Content: f.Content, Language: f.Language, CreateTime: f.Time, FlashType: f.FlashType, Columnist: columnist("", f.Source, f.Avatar),
		}
	}
	return out, err
}

// listingMembers are the exchanges whose listings are shown to who names none, and
// listingNews is the type of all of them.
var listingMembers = []int64{477, 1509}

const listingNews = 2

// listings returns flashes about listings on exchanges.
func (s *flashHandlers) listings(ctx context.Context, in catalog.ListingFlashesIn) ([]catalog.ListingFlash, error) {
	members := in.MemberIDs
	if len(members) == 0 {
		members = listingMembers
	}
	list, err := s.listed(ctx, flashes.Selection{
		Platform: flashes.House, Language: in.Language, Limit: int(in.PageSize),
		Keep: func(f *flashes.Flash) bool { return slices.Contains(members, f.MemberID) },
	})
	out := make([]catalog.ListingFlash, len(list))
	for i := range list {
		f := &list[i]
		out[i] = catalog.ListingFlash{ID: f.ID, Title: f.Title, Content: f.Content, Language: f.Language, CreateTime: f.Time, NewsType: listingNews}
	}
	return out, err
}

// search returns a page of those that hold words.
func (s *flashHandlers) search(ctx context.Context, in catalog.FlashSearchIn) (catalog.FoundFlashes, error) {
	out := catalog.FoundFlashes{List: []catalog.FoundFlash{}}
	index, err := s.indexes[flashes.House].Index(ctx)
	if err != nil {
		return out, err
	}
	hits, total := index.Find(in.Word, int((in.Page-1)*in.Size), int(in.Size))
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	list, err := flashes.ByIDs(ctx, s.log, ids)
	out.Total = int64(total)
	for i := range list {
		f := &list[i]
		out.List = append(out.List, catalog.FoundFlash{
			ID: f.ID, Title: f.Title, Content: f.Content, CreateTime: f.Time, Language: f.Language, TransTitle: f.TransTitle, TransContent: f.TransContent,
		})
	}
	return out, err
}

// platform is the name under which flashes of a platform are stored: clients know each by
// another one too.
func platform(name string) string {
	switch name {
	case "social", "twitter":
		return flashes.Social
	}
	return flashes.House
}

// pages returns a page of flashes or posts.
func (s *flashHandlers) pages(ctx context.Context, in catalog.FlashPagesIn) (catalog.FlashPage, error) {
	out := catalog.FlashPage{IsLive: in.DateMode == "normal" && in.LastID == 0, List: []catalog.PagedFlash{}}
	sel := flashes.Selection{Platform: platform(in.PlatformShow), Language: in.Lan, Limit: int(in.PageSize), Keep: func(f *flashes.Flash) bool {
		return (in.Tab == 0 || f.Tab == in.Tab) && (in.OnlyImportant == 0 || f.Important)
	}}
	switch in.DateMode {
	case "jump":
		if in.JumpToDate.IsZero() {
			return out, api.BadParameter("missing jump_to_date: date_mode jump needs a day as YYYY-MM-DD")
		}
		sel.To = in.JumpToDate.Time
	case "range":
		if in.StartDate.IsZero() {
			return out, api.BadParameter("missing start_date: date_mode range needs a first day as YYYY-MM-DD")
		}
		sel.From, sel.To = in.StartDate.Time, in.EndDate.Time
	}
	v, err := store.OrZero(s.newest.Get(ctx))
	if err != nil {
		return out, err
	}
	if in.LastID != 0 {
		last, ok := v.ByID(in.LastID) // where the page before showed it: the log is ahead of the view
		if !ok {
			last, ok, err = flashes.Newest(ctx, s.log, in.LastID)
		}
		if err != nil || !ok {
			return out, err
		}
		sel.Behind = &last
	}
	list, err := s.listedOf(ctx, v, sel)
	for i := range list {
		f := &list[i]
		out.List = append(out.List, catalog.PagedFlash{
			ID: f.ID, Title: f.Title, Content: f.Content, TransTitle: f.TransTitle, TransContent: f.TransContent,
			Timestamp: f.Time, IsImportant: important(f), Tab: f.Tab, Source: f.Source,
		})
	}
	return out, err
}

func important(f *flashes.Flash) int64 {
	if f.Important {
		return 1
	}
	return 0
}

// detail returns one flash or post.
func (s *flashHandlers) detail(ctx context.Context, in catalog.FlashDetailIn) (catalog.FlashInFull, error) {
	f, ok, err := flashes.ByID(ctx, s.log, in.FlashID)
	if err != nil {
		return catalog.FlashInFull{}, err
	}
	if !ok {
		return catalog.FlashInFull{}, api.NotFound("no flash has the flash_id %d: ids are those of newsflash/list", in.FlashID)
	}
	return catalog.FlashInFull{
		ID: f.ID, Title: f.Title, Content: f.Content, Timestamp: f.Time, IsImportant: important(&f), Source: f.Source,
		TransTitle: f.TransTitle, TransContent: f.TransContent, Link: f.Link, PicArray: pictures(&f),
	}, nil
}

// pictures is never null.
func pictures(f *flashes.Flash) []string { return append([]string{}, f.PictureList()...) }
