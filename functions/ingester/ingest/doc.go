// Package ingest is the ingester without its settings: it moves events from the
// sources into the stores.
//
//	sources -> bounded queues -> batch -> log rows -> projections -> series rows -> views -> checkpoints
//
// [Pipeline] is the one writer, which a lease makes sure of. What it has written
// is always at least what is checkpointed, so that a crash between any two writes
// loses nothing: a source goes on from its checkpoint, and rows that are written
// again are the same rows.
//
// [Spool] is the source of recorded files that [Replay] puts into a folder; it
// gives way to the live sources. [Health] tells how the sources fare, and
// [Report] tells it as metrics.
package ingest
