package catalog

// Posts of social networks, and who writes them. Clients also know them under the paths of
// one network.
var (
	// Lists the newest posts, page by page.
	Posts = route[PostsIn, PostPage]("GET", "/upgrade/v2/content/social/latest", Content, anyLevel, EnvelopeB).needs(ContentPosts)
	// Searches posts by words.
	PostSearch = route[PostSearchIn, FoundPosts]("GET", "/upgrade/v2/content/social/search", Content, anyLevel, EnvelopeB).needs(ContentPosts)
	// Searches authors of posts by name.
	MemberSearch = route[MemberSearchIn, FoundMembers]("GET", "/upgrade/v2/content/social/members", Content, anyLevel, EnvelopeB).needs(ContentMembers)
	// Counts likes, replies, reposts and views of up to 50 posts.
	PostStats = route[PostStatsIn, PostStatsList]("POST", "/upgrade/v2/content/social/interaction-stats", Content, anyLevel, EnvelopeB).needs(ContentPosts, ContentFlashes)

	// Lists the newest posts, page by page, under another path.
	TwitterPosts = addition[PostsIn, PostPage]("GET", "/upgrade/v2/content/twitter/latest", Content, anyLevel, EnvelopeB).needs(ContentPosts)
	// Searches posts by words, under another path.
	TwitterSearch = addition[PostSearchIn, FoundPosts]("GET", "/upgrade/v2/content/twitter/search", Content, anyLevel, EnvelopeB).needs(ContentPosts)
	// Searches authors of posts by name, under another path.
	TwitterMembers = addition[MemberSearchIn, FoundMembers]("GET", "/upgrade/v2/content/twitter/members", Content, anyLevel, EnvelopeB).needs(ContentMembers)
	// Counts likes, replies, reposts and views of up to 50 posts, under another path.
	TwitterStats = addition[PostStatsIn, PostStatsList]("POST", "/upgrade/v2/content/twitter/interaction-stats", Content, anyLevel, EnvelopeB).needs(ContentPosts, ContentFlashes)
)

// PostsIn selects a page of posts, newest first.
type PostsIn struct {
	// Posts on the page, 100 at most. Where the last one shares its second with others, these are on the page too.
	PageSize int64 `query:"page_size,pageSize" default:"20" min:"1" max:"100"`
	// Timestamp of the last post of the page before, in Unix seconds: only older ones are
	// listed. Absent for the first page.
	LastTime *Seconds `query:"last_time"`
	// Language: Chinese (cn) or English (en).
	Language string `query:"language,lan" default:"cn" enum:"cn|en"`
}

// PostPage is a page of posts, the newest first.
type PostPage struct {
	// Whether it is the first page, on which new posts appear.
	IsLive bool `json:"isLive"`
	// Posts of the page.
	List []Post `json:"list"`
}

// Post is a post of a social network. A count that is not known is 0.
type Post struct {
	// Number of the post, for interaction-stats and newsflash/detail.
	ID int64 `json:"id"`
	// Title, empty where a post has none.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// When it was published, in Unix seconds.
	Timestamp int64 `json:"timestamp"`
	// Always 1.
	IsSocial int64 `json:"isSocial"`
	// Address of the author's picture; empty for none.
	Avatar string `json:"avatar"`
	// Number of comments.
	CommentCount int64 `json:"commentCount"`
	// Number of likes.
	LikeCount int64 `json:"like_count"`
	// Number of answers.
	ReplyCount int64 `json:"reply_count"`
	// Number of reposts.
	RetweetCount int64 `json:"retweet_count"`
	// Number of views.
	ViewCount int64 `json:"view_count"`
	// Name of the author.
	Source string `json:"source"`
	// Text in the other language; empty for none.
	TransContent string `json:"transContent"`
	// Title in the other language; empty for none.
	TransTitle string `json:"transTitle"`
	// Identifier in its network; empty where it is not known.
	TweetID string `json:"tweet_id"`
	// Address of the post; empty where it is not known.
	ShareLink string `json:"shareLink"`
	// Addresses of pictures.
	PicArray []string `json:"picArray"`
	// Always empty.
	RelateArticles []string `json:"relateArticles"`
	// Comment of the editors on it; empty for none.
	PersonOpinion string `json:"person_opinion"`
}

// PostSearchIn searches posts, the newest first.
type PostSearchIn struct {
	// Words, all of which a post must hold: English ones as whole words in any case, Chinese
	// as it is written.
	Keyword string `query:"keyword" required:"true" maxlen:"200" example:"bitcoin"`
	// Posts on the page, 50 at most. Where the last one shares its second with others, these are on the page too.
	PageSize int64 `query:"page_size,pageSize" default:"20" min:"1" max:"50"`
	// Timestamp of the last post of the page before, in Unix seconds: only older ones are
	// listed. Absent for the first page.
	LastTime *Seconds `query:"last_time"`
	// Language: Chinese or English; without it both.
	Language string `query:"language,lan" enum:"cn|en"`
}

// FoundPosts is a page of posts that were found, the newest first.
type FoundPosts struct {
	// Posts of the page.
	List []FoundPost `json:"list"`
}

// FoundPost is a post of a social network that was found.
type FoundPost struct {
	// Number of the post.
	ID string `json:"id"`
	// Title, empty where a post has none.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// When it was published, in Unix seconds.
	CreateTime string `json:"createTime"`
	// Whether it is much read.
	Hot bool `json:"hot"`
	// Whether it was published in the last hour.
	Latest bool `json:"latest"`
	// Name of the author.
	Source string `json:"source"`
	// Name of the author, as in source.
	SourceTitle string `json:"sourceTitle"`
	// Text in the other language; empty for none.
	TransContent string `json:"transContent"`
	// Title in the other language; empty for none.
	TransTitle string `json:"transTitle"`
}

// MemberSearchIn searches authors by a part of their names: those whose names begin with
// it first, the most followed first among each.
type MemberSearchIn struct {
	// A part of a name, in any case.
	Word string `query:"word" required:"true" maxlen:"100" example:"desk"`
	// What kind of member; twitter is another spelling of social.
	Type string `query:"type" default:"social" maxlen:"32"`
	// Number of the page, from 1.
	Page int64 `query:"page" default:"1" min:"1"`
	// Members on a page, 100 at most.
	Size int64 `query:"size" default:"20" min:"1" max:"100"`
}

// FoundMembers is a page of members that were found.
type FoundMembers struct {
	// Identifier of the last member of the page; empty where there is none.
	LastID string `json:"lastId"`
	// Members of the page.
	List []Member `json:"list"`
}

// Member is an author of posts.
type Member struct {
	// Identifier of the member.
	MemberID string `json:"memberId"`
	// Name of the member.
	Name string `json:"name"`
	// Address of a picture; empty for none.
	Avatar string `json:"avatar"`
	// Number of followers.
	Followers string `json:"followers"`
	// Always false: no key follows a member.
	Attention bool `json:"attention"`
	// Description, a few words.
	Describe string `json:"describe"`
	// Labels of the member.
	LabelData []MemberLabel `json:"labelData"`
	// Always false: no key subscribes to a member.
	Subscription bool `json:"subscription"`
	// Kind of member, such as social.
	Type string `json:"type"`
}

// MemberLabel is a label of a member.
type MemberLabel struct {
	// The label.
	Name string `json:"name"`
	// Always label.
	Type string `json:"type"`
}

// PostStatsIn names posts.
type PostStatsIn struct {
	FlashIDs []int64 `body:"flash_ids" required:"true" min:"1" max:"50" list:"set"` // Numbers of posts, 50 at most. Unknown ones and null are left out.
}

// PostStatsList is what was counted of posts.
type PostStatsList struct {
	// Counts of each known post, in the order of the request.
	Stats []PostStat `json:"stats"`
	// The same rows as in stats, as some clients read them.
	List []PostStat `json:"list"`
}

// PostStat is what was counted of a post. A count that is not known is 0.
type PostStat struct {
	// Number of the post.
	FlashID int64 `json:"flashId"`
	// Number of likes.
	LikeCount int64 `json:"likeCount"`
	// Number of answers.
	ReplyCount int64 `json:"replyCount"`
	// Number of reposts.
	RetweetCount int64 `json:"retweetCount"`
	// Number of views.
	ViewCount int64 `json:"viewCount"`
}
