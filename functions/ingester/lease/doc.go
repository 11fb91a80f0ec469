// Package lease lets one of several processes at a time do a piece of work, and
// another one take it over when that one dies.
//
// A lease is one item of a table: who holds it, a fencing number (the epoch)
// that grows with every take-over, and a count of heartbeats. Whoever does not
// hold it looks at the item a few times a second ([Lease.Hold]). It takes the
// lease when nobody holds it, or when it has seen the same heartbeat for
// [Timing.Patience].
//
// # What is promised
//
// Time is each process's own and counted, never read off a wall clock, sent to
// anybody or left to the expiry of items. A holder counts from the start of the
// request that renewed its lease and holds it for [Timing.Term]; an observer
// counts from the end of the read in which it first saw a heartbeat, which is
// later, and waits for the longer Patience. So as long as clocks run at rates
// that differ by less than Patience to Term, no two processes have a
// [Term.Valid] lease at one moment, whatever requests take and however processes
// pause. The standby holds the lease within Patience, two Polls and three
// requests of the death of the holder: with [Standard], and a table that
// answers, in less than 10 s.
//
// A holder that cannot renew in time has no valid lease any more and must not
// act. It goes on trying: if it can renew after all, then nobody has taken the
// lease since, and the same term is valid again. If somebody has, the term is
// over for good, and the context of the work ends with [ErrLost].
//
// # Who should hold it
//
// A process may lack what the work would be done best with, and says so by its rank
// ([Lease.Rank]). It takes the lease all the same when nobody else does. One of a higher
// rank that stands by asks for the lease; the holder learns of that with its next
// heartbeat, ends its work ([ErrAsked]) and releases the lease, and for the time of
// Patience nobody takes it but who has asked. Between processes of the same rank
// nothing changes.
//
// # What is not, and what helps
//
// Between looking at a clock and acting a process can pause for any time, and a
// request can travel for any time. What the holder writes must therefore be
// harmless when it arrives late, or name its epoch where it is written so that
// it is refused:
//
//   - rows of the log are immutable and have natural keys: written by anybody,
//     at any time, they are the same rows;
//   - rows of series, and checkpoints, carry the epoch of their writer and are
//     replaced only by an equal or higher one; a new holder claims the
//     checkpoints that it goes on from (package store, Series.Under);
//   - a view is replaced only by a publisher that has seen the version it
//     replaces before it made sure of its lease (package store, Views.Owned);
//   - connections and their slots change in transactions of which each names the
//     revision that it was computed from (package connections), so two that
//     remove the same connection free its slots once;
//   - frames to WebSocket clients cannot be refused by epoch. None is sent
//     without a valid lease, and every subscription starts again with a snapshot
//     at the next holder. A frame that was under way may still arrive before it.
package lease
