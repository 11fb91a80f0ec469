package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/flashes"
	"quotary/shared/data/members"
	"quotary/shared/search"
	"quotary/shared/store"
)

// postHandlers answers for posts, which are stored with the flashes, and their authors.
type postHandlers struct {
	*flashHandlers
	memberView *store.View[members.View]
}

func (p *postHandlers) register(f *api.Family) {
	api.Handle(f, catalog.Posts, p.latest)
	api.Handle(f, catalog.TwitterPosts, p.latest)
	api.Handle(f, catalog.PostSearch, p.search)
	api.Handle(f, catalog.TwitterSearch, p.search)
	api.Handle(f, catalog.MemberSearch, p.members)
	api.Handle(f, catalog.TwitterMembers, p.members)
	api.Handle(f, catalog.PostStats, p.stats)
	api.Handle(f, catalog.TwitterStats, p.stats)
}

// latest returns the newest posts. As the cursor is a time, a page ends with a whole second.
func (p *postHandlers) latest(ctx context.Context, in catalog.PostsIn) (catalog.PostPage, error) {
	first := in.LastTime == nil || *in.LastTime == 0 // where some clients begin
	out := catalog.PostPage{IsLive: first, List: []catalog.Post{}}
	sel := flashes.Selection{Platform: flashes.Social, Language: in.Language, Limit: int(in.PageSize)}
	if !first {
		sel.To = in.LastTime.Time().Add(-time.Second)
	}
	list, err := p.listed(ctx, sel)
	if n := len(list); err == nil && n == sel.Limit {
		last := list[n-1]
		var others []flashes.Flash
		others, err = p.listed(ctx, flashes.Selection{Platform: flashes.Social, Language: in.Language, Limit: flashListMost, From: last.Published(), To: last.Published(), Behind: &last})
		list = append(list, others...)
	}
	for i := range list {
		f := &list[i]
		out.List = append(out.List, catalog.Post{
			ID: f.ID, Title: f.Title, Content: f.Content, Timestamp: f.Time, IsSocial: 1, Avatar: f.Avatar, CommentCount: f.CommentCount, LikeCount: f.LikeCount,
			ReplyCount: f.ReplyCount, RetweetCount: f.RetweetCount, ViewCount: f.ViewCount, Source: f.Source, TransContent: f.TransContent, TransTitle: f.TransTitle,
			TweetID: f.TweetID, ShareLink: f.Link, PicArray: pictures(f), RelateArticles: []string{}, PersonOpinion: f.PersonOpinion,
		})
	}
	return out, err
}

// lately is how old a post may be that is among the latest.
const lately = time.Hour

// search returns the newest posts that hold words: a page ends with a whole second too.
func (p *postHandlers) search(ctx context.Context, in catalog.PostSearchIn) (catalog.FoundPosts, error) {
	out := catalog.FoundPosts{List: []catalog.FoundPost{}}
	index, err := p.indexes[flashes.Social].Index(ctx)
	if err != nil {
		return out, err
	}
	hits, _ := index.Find(in.Keyword, 0, search.MaxHits)
	if in.LastTime != nil && *in.LastTime > 0 {
		hits = slices.DeleteFunc(hits, func(h search.Hit) bool { return h.Time >= int64(*in.LastTime) })
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return int(b.Time - a.Time) })
	now := api.Now(ctx)
	for some := range slices.Chunk(hits, 2*int(in.PageSize)) {
		ids := make([]int64, len(some))
		for i, h := range some {
			ids[i] = h.ID
		}
		list, err := flashes.ByIDs(ctx, p.log, ids)
		if err != nil {
			return out, err
		}
		for i := range list {
			f := &list[i]
			if in.Language != "" && f.Language != in.Language {
				continue
			}
			if n := len(out.List); n >= int(in.PageSize) && out.List[n-1].CreateTime != strconv.FormatInt(f.Time, 10) {
				return out, nil
			}
			out.List = append(out.List, catalog.FoundPost{
				ID: strconv.FormatInt(f.ID, 10), Title: f.Title, Content: f.Content, CreateTime: strconv.FormatInt(f.Time, 10), Hot: f.Hot,
				Latest: now.Sub(f.Published()) < lately, Source: f.Source, SourceTitle: f.Source, TransContent: f.TransContent, TransTitle: f.TransTitle,
			})
		}
	}
	return out, nil
}

// members returns a page of authors by their names.
func (p *postHandlers) members(ctx context.Context, in catalog.MemberSearchIn) (catalog.FoundMembers, error) {
	out := catalog.FoundMembers{List: []catalog.Member{}}
	v, err := store.OrZero(p.memberView.Get(ctx))
	if err != nil {
		return out, err
	}
	kind := in.Type
	if kind == "twitter" { // its name in older requests
		kind = members.TypeSocial
	}
	found := v.Search(kind, in.Word)
	n := int64(len(found))
	if in.Page-1 > n/in.Size {
		return out, nil
	}
	for _, m := range found[min((in.Page-1)*in.Size, n):min(in.Page*in.Size, n)] {
		one := catalog.Member{
			MemberID: m.MemberID, Name: m.Name, Avatar: m.Avatar, Followers: strconv.FormatInt(m.Followers, 10), Describe: m.Describe,
			LabelData: []catalog.MemberLabel{}, Type: m.Type,
		}
		for _, label := range m.LabelList() {
			one.LabelData = append(one.LabelData, catalog.MemberLabel{Name: label, Type: "label"})
		}
		out.List, out.LastID = append(out.List, one), m.MemberID
	}
	return out, nil
}

// stats returns what was counted of posts.
func (p *postHandlers) stats(ctx context.Context, in catalog.PostStatsIn) (catalog.PostStatsList, error) {
	list, err := flashes.ByIDs(ctx, p.log, in.FlashIDs)
	stats := make([]catalog.PostStat, len(list))
	for i := range list {
		f := &list[i]
		stats[i] = catalog.PostStat{FlashID: f.ID, LikeCount: f.LikeCount, ReplyCount: f.ReplyCount, RetweetCount: f.RetweetCount, ViewCount: f.ViewCount}
	}
	return catalog.PostStatsList{Stats: stats, List: stats}, err
}
