// Package connections keeps who is connected to the WebSocket feeds and what
// they follow, in one table that the socket function writes and the ingester
// reads through the table's stream ([Follower]).
//
// A connection is the items under one partition key:
//
//	c#<id>  c          the connection: access key, distributor, feed, dex, management URL, times
//	c#<id>  s#<key>    one subscription of /ws, with the reply that goes before its snapshot
//	c#<id>  g#<n>      the addresses that one message added on an address feed, with the reply to it
//	c#<id>  r#<n>      a reply to any other message, until the ingester has sent it
//	c#<id>  stat#<n>   a request for figures, until the ingester has answered it
//	c#<id>  close#<n>  a request to be closed, until the ingester has removed the connection
//
// and two more items count: `k#<access key>` and `d#<distributor>` hold the
// connections (conns) and the slots of subscriptions (subs) of a sub-key and of
// all sub-keys of its distributor. An `s#` and a `g#` item hold one slot each.
//
// Every change of those items and of the counters is one transaction, so the
// counters equal the items at every moment, whatever crashes where, and no cap
// is ever passed. A change is made under the cap that is in force then: one that was
// lowered ends nothing, but what is above it gets nothing more until enough has ended.
// The connection item carries a revision (rev) that goes up
// with every change of what is below it; a change names the revision it was
// computed from and is computed again when another came first. A removal
// therefore takes exactly what is there: a slot is freed once, whoever notices
// first that a client is gone, and a subscription cannot slip in behind.
//
// Replies go through the table so that a client gets them in the order in which
// its messages were carried out, each before the data that it announces: were
// some sent by the function and some by the ingester, the end of a subscription
// could be confirmed before its beginning, and a client that asks to be closed would
// miss the replies to what it sent before.
//
// Nothing that holds a slot expires by itself: an item that the table expired
// would leave its slot taken. Only replies and requests for figures do.
//
// The [Follower] lives here although only the ingester needs it: it makes events of
// the keys, revisions and order of writes of the items, which nothing else needs to
// know.
package connections
