package syndication

import (
	"slices"
	"strings"
)

// element takes an element that may say something.
func (r *xmlReader) element(name string) {
	parent := r.open[len(r.open)-2].name
	switch {
	case r.inItem == 0:
		r.ofFeed(name, parent)
	case r.item == nil:
	case r.inItem == len(r.open)-1:
		r.ofItem(name)
	case name == "media:content" || name == "media:thumbnail":
		r.media(name)
	case r.atom && name == "name" && parent == "author" && r.inItem == len(r.open)-2:
		r.once(&r.item.Author, Plain)
	}
}

// ofFeed takes an element outside of items.
func (r *xmlReader) ofFeed(name, parent string) {
	address := func(to *string) {
		r.read(maxShort, func(text string) {
			if *to == "" {
				*to = strings.TrimSpace(text)
			}
		})
	}
	switch {
	case r.atom && name == "link" || name == "atom:link":
		if r.alternate() && r.feed.Link == "" {
			r.feed.Link = strings.TrimSpace(r.attr("href"))
		}
	case r.atom && (name == "logo" || name == "icon" && r.feed.Image == ""), !r.atom && name == "url" && parent == "image":
		address(&r.feed.Image)
	case r.atom && name == "name" && parent == "author":
		r.once(&r.author, Plain)
	case !r.atom && name == "link" && parent == "channel":
		address(&r.feed.Link)
	}
}

// alternate reports whether a link of Atom leads to what the feed or the item is about.
func (r *xmlReader) alternate() bool {
	rel := r.attr("rel")
	return rel == "" || strings.EqualFold(rel, "alternate")
}

// ofItem takes an element of an item.
func (r *xmlReader) ofItem(name string) {
	item := r.item
	switch name {
	case "title":
		r.once(&item.Title, Headline)
	case "guid":
		permanent := !strings.EqualFold(r.attr("ispermalink"), "false")
		r.read(maxShort, func(text string) {
			item.ID = strings.TrimSpace(text)
			if low := strings.ToLower(item.ID); permanent && item.Link == "" && (strings.HasPrefix(low, "https://") || strings.HasPrefix(low, "http://")) {
				item.Link = item.ID
			}
		})
	case "id":
		r.read(maxShort, func(text string) { item.ID = strings.TrimSpace(text) })
	case "link", "atom:link":
		r.link(name)
	case "description":
		r.once(&item.Summary, Markup)
	case "summary":
		if r.atom {
			r.once(&item.Summary, Plain)
		}
	case "content":
		if r.atom {
			r.content()
		}
	case "content:encoded":
		r.once(&item.Content, Markup)
	case "author", "dc:creator", "itunes:author":
		if !r.atom || name != "author" {
			r.read(maxShort, func(text string) {
				if item.Author.Empty() {
					item.Author = Text{Headline, person(text)}
				}
			})
		}
	case "pubdate", "published", "atom:published", "issued":
		r.date(0)
	case "dc:date", "dcterms:issued", "dcterms:created", "created":
		r.date(1)
	case "updated", "atom:updated", "modified", "dcterms:modified":
		r.date(2)
	case "media:content", "media:thumbnail":
		r.media(name)
	case "enclosure":
		if strings.HasPrefix(r.attr("type"), "image/") {
			r.picture(r.attr("url"))
		}
	case "itunes:image":
		r.picture(r.attr("href"))
	}
}

// once reads a text, of which the first that is not empty holds. An Atom text says of which
// form it is.
func (r *xmlReader) once(to *Text, form Form) {
	markup := false
	if kind := r.attr("type"); r.atom {
		switch strings.ToLower(kind) {
		case "", "text", "text/plain":
			form = Plain
		case "xhtml", "application/xhtml+xml":
			form, markup = Markup, true
		default:
			form = Markup
		}
	}
	most := maxLong
	if form == Headline {
		most = maxShort
	}
	r.read(most, func(text string) {
		if markup {
			text = withoutDiv(text)
		}
		if to.Empty() {
			*to = Text{form, text}
		}
	})
	r.field.markup = markup
}

// withoutDiv is XHTML without the element that carries it, which is no part of it.
func withoutDiv(text string) string {
	text = strings.TrimSpace(text)
	if begin, inside, found := strings.Cut(text, ">"); found && strings.HasPrefix(begin, "<div") && strings.HasSuffix(inside, "</div>") {
		return strings.TrimSuffix(inside, "</div>")
	}
	return text
}

// content takes that of an Atom entry, unless it is elsewhere, or neither text nor markup.
func (r *xmlReader) content() {
	kind := strings.ToLower(r.attr("type"))
	if r.attr("src") == "" && (!strings.Contains(kind, "/") || strings.HasPrefix(kind, "text/") || kind == "application/xhtml+xml") {
		r.once(&r.item.Content, Plain)
	}
}

// link takes the page of an item: in RSS the text of the element, which holds before what
// else is known of it, in Atom an attribute.
func (r *xmlReader) link(name string) {
	item, href := r.item, strings.TrimSpace(r.attr("href"))
	switch {
	case !r.atom && name == "link" && href == "":
		r.read(maxShort, func(text string) {
			if text = strings.TrimSpace(text); text != "" {
				item.Link = text
			}
		})
	case strings.EqualFold(r.attr("rel"), "enclosure") && strings.HasPrefix(r.attr("type"), "image/"):
		r.picture(href)
	case r.alternate() && item.Link == "":
		item.Link = href
	}
}

// date reads one of the dates of an item.
func (r *xmlReader) date(rank int) {
	r.read(maxShort, func(text string) {
		if r.dates[rank] == nil {
			at := Date(text)
			r.dates[rank] = &at
		}
	})
}

// media takes a picture. What says neither its type nor its medium is one, unless its
// address says otherwise.
func (r *xmlReader) media(name string) {
	address, kind, medium := r.attr("url"), r.attr("type"), r.attr("medium")
	if TrackingPixel(r.attr("width")) || TrackingPixel(r.attr("height")) {
		return
	}
	unsaid := kind == "" && medium == "" && !slices.ContainsFunc([]string{".mp3", ".mp4", ".m4a", ".m4v", ".m3u8", ".mov", ".ogg", ".swf", ".wav", ".webm"}, func(ending string) bool {
		path, _, _ := strings.Cut(strings.ToLower(address), "?")
		return strings.HasSuffix(path, ending)
	})
	switch {
	case name == "media:thumbnail":
		r.picture(address)
	case medium == "image" || strings.HasPrefix(kind, "image/") || unsaid:
		if len(r.item.Pictures) < maxPictures && address != "" {
			r.item.Pictures = slices.Insert(r.item.Pictures, r.contents, address) // before all others
			r.contents++
		}
	}
}

func (r *xmlReader) picture(address string) {
	if len(r.item.Pictures) < maxPictures && address != "" {
		r.item.Pictures = append(r.item.Pictures, address)
	}
}

// person is the name in an author of RSS: of "a@example.com (A. Writer)" and "A. Writer
// <a@example.com>" the writer.
func person(text string) string {
	text = strings.TrimSpace(text)
	before, behind, found := strings.Cut(text, "(")
	switch {
	case strings.Contains(before, "@") && found:
		return strings.TrimSuffix(strings.TrimSpace(behind), ")")
	case strings.Contains(text, "@") && strings.HasSuffix(text, ">"):
		before, _, _ = strings.Cut(text, "<")
		return strings.TrimSpace(before)
	case strings.Contains(text, "@") && !strings.Contains(text, " "):
		return "" // an address of mail alone
	}
	return text
}
