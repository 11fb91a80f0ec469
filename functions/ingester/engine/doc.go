// Package engine moves what sources emit into the stores. It knows no venue and no
// dataset: a domain gives it a batch type, logs, projections and sources.
//
//	sources -> bounded queues -> batch -> log rows -> projections -> their log rows -> series rows -> views -> checkpoints
//
// A [Pipeline] runs one domain. It is the domain's one writer, which a lease makes
// sure of, and the only one that touches its projections. What it has written is
// always at least what is checkpointed, so that a crash between any two writes
// loses nothing and doubles nothing: a source goes on from its checkpoint, and rows
// that are written again are the same rows. For that a source must give its
// positions truly, a log must make the same row of the same event, and a projection
// must fold as a set union; [Projection] says what that asks for.
//
// A projection that is added to a domain that has run before is caught up: it gets
// every live batch at once, and beside them the stored rows of the logs that it is
// folded from, page by page. Its progress is saved behind the rows that come of a
// page. At the end of the logs it has joined, and is like the others.
//
// Rows of a log that has a retention are archived once their day has ended, and expire
// only then. A projection that is caught up reads the archive behind the log.
//
// # What goes wrong
//
// A row that the store calls invalid is quarantined: kept as an object for a person
// to look at ([Quarantine]), counted, and left out, and the rest goes on. Whatever
// else the stores refuse stops the pipeline, missing rights and tables included: it
// tries again with growing pauses and skips nothing, the queues fill, and the
// sources wait. So do more than 100 quarantined rows an hour, whatever is restarted.
// Rows that cannot be read while a projection is caught up are counted for themselves:
// more than 100 an hour stop the catching up, and nothing else.
//
// A source whose checkpoint the store calls invalid is stopped until the next start, and a
// view that is too large is not published: its readers have the version before. Either is
// logged once and makes the domain not ready, and the rest goes on.
//
// A source that panics is begun again after a pause, behind what it has delivered last; it
// is logged once with its stack, counted, and makes the domain not ready for five minutes,
// while the other sources go on. A panic while a batch is folded ends the work of its domain,
// as an error of a projection does: which of its events is to blame is not known, and what
// is in memory may be folded by half. So the [Runner] begins again from what is stored, with
// that batch, and skips nothing; the domain says that its work failed until a person has
// looked. What runs beside a pipeline ends it in the same way. No other domain is touched.
// Goroutines of all of it are those of the package guard.
//
// A stored series row or view that its own dataset cannot read any more follows one
// rule. It is quarantined, and treated as absent where it can be made again: a view by
// what comes, and by the logs if its projections can be folded from any; a row by the
// logs. Those projections are folded again from all that is stored, which is saved
// before anything takes the place of what was lost. So they are where a view that was
// published before is missing. A row of a projection that is folded from no log is not
// given up: the pipeline stops, as it does when the stores refuse, until a person has
// mended or deleted the row.
//
// A [Runner] does the work of a [Domain] whenever this process holds the domain's
// lease, and begins it again when it fails. Domains share nothing: trouble in one
// does not hold up another. [Health] and [Report] say how each fares.
//
// # Adding a domain
//
//  1. A folder beside this one, with its batch (a struct with Merge and Len; a test
//     fills every field and merges it) and its projections, one file each, in one
//     list; see the package perp for the steps of adding one.
//  2. A Config with a function Settings, which reads it from the environment, and a
//     method that returns its [Domain] for a [Host]: Begin makes a [Pipeline] on the
//     stores [Stores.Under] the term.
//  3. A line in the list of domains of the program, domains.go.
//  4. Its declaration in the package catalog, domain_<name>.go: its name, by which it is
//     watched, and each setting that it reads. The operator's guide names both.
//
// # Adding a source
//
// A [Source] is a name, its stats and a function that delivers batches until its
// context ends. With positions it goes on where it stood; without, NoCheckpoint is
// set, and what it missed is lost unless the upstream can be asked for it. A [Spool]
// is a source of recorded files that wait in a folder, [Drops] one of files that an
// operator puts into the bucket.
package engine
