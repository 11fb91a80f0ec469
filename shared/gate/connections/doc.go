// Package connections keeps who is connected to the WebSocket feeds and what
// they follow, in one table that the socket function writes and the ingester
// reads through the table's stream ([Follower]).
//
// A connection is the items under one partition key:
//
//	c#<id>  c               the connection: access key, distributor, feed, dex, management URL, times, what it sent this minute
//	c#<id>  s#<key>         one subscription of /ws, with the reply that goes before its snapshot, or the memory of its end
//	c#<id>  g#<t>#<m>       the addresses that one message added on an address feed, with the reply to it
//	c#<id>  r#<t>#<m>       a reply to any other message, until the ingester has sent it
//	c#<id>  stat#<t>#<m>    a request for figures, until the ingester has answered it
//	c#<id>  close#<t>#<m>   a request to be closed, until the ingester has removed the connection
//
// where t is when the gateway received the message and m the request that carried it.
// Beside them are what messages leave for those that are carried out at the same time, which
// expires by itself and is no concern of the ingester or of the end of the connection:
//
//	m#<id>  u#<t>#<m>       the addresses that one message removed
//	m#<id>  renew#<t>#<m>   the addresses that one message added again
//	m#<id>  wait#<key>      when a message began to wait for the end of a subscription
//
// And f#<access key> keeps a key out after a flood ([Store.Bar]), b#k#<access key> and
// b#d#<distributor> hold what their connections cost this minute ([Spending]).
//
// # Messages at once
//
// API Gateway calls the function for the messages of one connection side by side, and in
// any order. So no message depends on another's write: a subscription is an item of its
// own, written on condition that no later message has written it. Its end stays as
// an item for ten minutes, so that a subscribe from before it, which comes late, changes
// nothing. Of two messages about one key or one address the later wins, by the gateway's
// time; in the same millisecond either does. For addresses, a removal first leaves what
// it removes, then takes that out of the groups from before it; a message that adds
// writes its group, then looks for later removals: whichever is second finds the other.
// A message that adds what is followed already notes that, for a removal that comes late.
// A message is carried out, or given up, within a minute: none reads what older ones left.
//
// Where no cap is set, a subscription is one write, its end two, as the reply is one of
// its own, and each is followed by a read of the connection: whoever finds that gone, or
// being removed, takes back what it wrote ([ErrGone]). How many subscriptions a channel
// has is counted by the ingester, which knows the order ([Reply]).
//
// # Slots
//
// A cap bounds the connections, or the subscriptions, of a sub-key and of all sub-keys of
// its distributor. Where none is set nothing is counted. Where one is, it is split over
// up to 32 shards, an item each in a partition of its own:
//
//	k#<access key>#<i>   conns or subs   taken, lim, cap, v
//	d#<distributor>#<i>  conns or subs   the same
//
// An item that takes slots names the shards that it took them of (ks, ds), in one
// transaction with them, and gives them back to those, in one transaction with its end. So
// the counters equal the items at every moment, whatever crashes where. An item holds its
// slots once: an `s#` or `g#` one of subscriptions, the connection one of
// connections. A shard gives a slot only where it was split under the cap that is in force
// for the request and has taken less than its limit. When it refuses, all shards are read
// and one with room is asked; the request is refused when none has. The limits sum to the
// cap or less: see split for how a cap that was changed is split again by whoever meets it
// first. A cap that was lowered ends nothing, but what is above it gets nothing more until
// enough has ended. What was made before there was a cap holds no slots. So the limits of a
// request say since when there is a cap, where there once was none, and each split since
// when it counts everything: a shard gives nothing under a cap that is younger. The first
// request under such a cap asks the ingester, which knows the connections, to have
// everything counted ([CountAsked], [Store.CountAll]), though the cap be passed, and waits
// for that some seconds; others are refused meanwhile ([ErrCounting]). So a cap is exact
// from the moment in which it is set.
//
// # Removal
//
// A removal marks the connection first, and of all that notice its end the one that did
// is told so. Then everything below is deleted, page by page, and the connection last. What
// a crash leaves, of a removal or of a message that came in behind it, is found by the ingester
// after a minute ([Stray]) and removed. Nothing that holds a slot expires by itself: an
// item that the table expired would leave its slot taken.
//
// # Replies
//
// Replies go through the table so that a client gets them in the order in which
// its messages were carried out, each before the data that it announces: were
// some sent by the function and some by the ingester, the end of a subscription
// could be confirmed before its beginning, and a client that asks to be closed would
// miss the replies to what it sent before.
//
// The [Follower] lives here although only the ingester needs it: it makes events of
// the keys, times and order of writes of the items, which nothing else needs to
// know.
package connections
