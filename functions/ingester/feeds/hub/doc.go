// Package hub pushes market data to many WebSocket connections that somebody
// else holds: it decides what goes to whom and when, and a [Sink] delivers.
//
// A [Hub] knows connections, topics, and which connection subscribed to which
// topic. The publisher encodes a frame once for its topic; every subscriber
// is sent the same bytes. Nobody has to wait: [Hub.Publish] queues and returns.
//
// # What a connection is promised
//
// One frame of a connection is in flight at a time, so what it gets is in order. A
// subscription starts with the reply, then the topic's snapshot, then what was
// published after that snapshot was taken: nothing in between is lost or sent twice
// (see [Topic.Guard]). The snapshot is taken when its turn to be sent has come, so a
// connection that lags gets a fresh one. One of several frames is sent without
// anything in between.
//
// A [State] that waits is replaced by the newer one: a connection that lags
// jumps to the present. An [Event] waits its turn in a bounded queue, from which
// the oldest is dropped and counted in [Stats.Discarded]. A [Final] is the last
// state of something: it replaces the state that waits, and nothing replaces it. An
// event of [Hub.PublishLate] waits until there is nothing else to send, in a queue of
// the same bounds, and is dropped before the others.
//
// A frame with a place in the order of all events is sent with a cursor ([Config.Cursor]), with
// which a client that comes back is sent what it lacks. None is sent while the client lacks
// something that is still to come and lies before it: see [Hub.Hold] and [Hub.Await].
//
// # Where work waits, and who does it
//
// [Hub.Run] owns every goroutine. A fixed number of senders take connections
// from first-in-first-out lists, one for each owner ([Conn.Of]), send one frame of each and
// put it back at the end. Owners have their turns, and so have the connections of each: who
// has many of them is served no more frames than another who has frames waiting, and no
// connection has a second turn before its owner's others had theirs. Where
// requests are limited, a sender waits for its turn ([Config.Admit]) before it chooses a
// frame: states that wait are conflated meanwhile, so a limit makes them fewer, not
// older. A sender held up for long is replaced, up to a bound; beyond that bound its
// frame is abandoned. The connection that held it up rests before its next
// turn. So connections that do not read delay only themselves.
//
// What waits for a connection is at most one frame per subscription, shared
// with all other subscribers, and its queues of events and replies, which are
// bounded in number and bytes.
//
// # When sending fails
//
// [ErrGone] removes the connection and calls [Config.Gone], once. [ErrBusy] says
// that the frame was not delivered: it is tried again after a rest that grows
// with each failure. An event that was refused [Config.Tries] times counts as
// discarded; a reply is tried until it is
// delivered, as a client takes what follows it for something else without it. A connection
// that rests for [Config.ReplayRest] while something is replayed to it is removed: others wait
// for their turn.
// [ErrRejected] says that it never will be: it counts as discarded, whatever it was.
// After any other error nobody knows whether the frame arrived: states and snapshots
// are sent again, since that changes nothing; an event or reply is not, since it
// might arrive twice, and counts as discarded.
package hub
