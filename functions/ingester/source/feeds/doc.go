// Package feeds reads news feeds: RSS, Atom and JSON Feed, as publishers really
// write them.
//
// [Source] polls one feed and delivers what is new in it or has changed, an item that changes
// all the time so often a day; a story that another feed of the publisher tells ([Twins]) is
// not new. A [Client] asks for it, politely and with bounds: it repeats the validators of the
// last answer (ETag, Last-Modified), obeys Retry-After, pauses longer and longer for a host
// that fails, asks a host one question at a time, gives an answer 20 seconds and 5 MB, and
// parses one at a time. [Parse] makes items of what the package syndication reads: what the
// writer wrote as texts without markup, HTML of harmless elements only, absolute addresses. A
// [Format] lets a vendor's own JSON be followed in the same way.
//
// # What a publisher cannot do
//
// Feeds are written by strangers. Nothing that a feed names is ever asked for: not its
// images, not its links. A redirect is followed five times at most, and never to an
// address of a private network, whatever name it hides behind, as the address that is
// connected to is checked. The operator may name a feed on this machine's loopback
// address; then that address and port, and nothing else private, is asked. What is no
// feed, or too much of one, is counted, logged and asked for less and less often.
package feeds
