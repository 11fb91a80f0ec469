package metrics

// Metrics of each domain of the ingester, which it writes once a minute with the
// label [Domain].
const (
	Domain = "Domain" // label

	LeaseHeld       = "LeaseHeld"     // 1 by the process that works, 0 by one that stands by
	LeaseTaken      = "LeaseTaken"    // times that a process began to work
	Rank            = "Rank"          // of the process that works: 2 while its node is up to date, 1 without a node, 0 while its node lags
	Lag             = "Lag"           // ms behind the newest event, of the group of sources that is furthest behind
	SilentSources   = "SilentSources" // groups of sources without a word for 60 s
	Stopped         = "Stopped"       // 1 while the stores have refused for 60 s, a view cannot be stored, or the work has failed
	RowsWritten     = "RowsWritten"
	RowsQuarantined = "RowsQuarantined" // rows that the stores called invalid
	Queued          = "Queued"          // deliveries of the sources that wait to be written

	RowsArchived = "RowsArchived"
	ArchiveLag   = "ArchiveLag" // ms for which a day has waited to be archived

	ProjectionsCatchingUp = "ProjectionsCatchingUp" // projections that are still being folded from the stored logs
)

// Metrics of the WebSocket feeds, which belong to the domain perp.
const (
	Connections   = "Connections"
	FramesSent    = "FramesSent"
	FramesDropped = "FramesDropped" // for clients that do not keep up
	FramesWaiting = "FramesWaiting"

	AccountPollsWaiting = "AccountPolls"     // accounts that are followed there and wait to be polled
	AccountPollWait     = "AccountPollWait"  // ms for which one of them has waited, at most
	SnapshotsWaiting    = "SnapshotsWaiting" // reads for snapshots of subscriptions, of the stores or at the venue, that wait for their turn
	BooksNotJoined      = "BooksNotJoined"   // books with nSigFigs for which the venue's limits leave no place
	KeysUnread          = "KeysUnread"       // distributors whose keys cannot be read, so that sockets of a revoked one stay open
)

// Metrics of the fold of accounts, which belong to [PerpDomain].
const (
	AccountsCached       = "AccountsCached"       // in memory
	AccountsRebuilding   = "AccountsRebuilding"   // that are to be made again from the logs
	AccountsRebuilt      = "AccountsRebuilt"      // that were
	AccountGaps          = "AccountGaps"          // events before which something is missing
	AccountLateEvents    = "AccountLateEvents"    // events that came too late to be folded
	AccountUnknownEvents = "AccountUnknownEvents" // fills of unknown markets, ledger updates of unknown kinds
	AnchorsTaken         = "AnchorsTaken"         // answers of the venue about an account
	AnchorsRefused       = "AnchorsRefused"       // questions that it did not answer
	AnchorsAhead         = "AnchorsAhead"         // answers of a time to which the events of their accounts have not come, as they come with the venue's hours
	AnchorsMissed        = "AnchorsMissed"        // answers that came too late to be taken over, all or their balances
	AnchorDifferences    = "AnchorDifferences"    // figures in which an answer contradicts what was folded
	AnchorsUnexplained   = "AnchorsUnexplained"   // answers about accounts in a mode of which nobody tells how it counts
	BuildersLeftOut      = "BuildersLeftOut"      // fills that do not count for their builder: the account has had too many
	BuildersUnknown      = "BuildersUnknown"      // rows of what an account did that had no room for what its builders routed
	AnchorWait           = "AnchorWait"           // ms for which the followed account has waited that has waited longest to be asked about
	AccountsNotAsked     = "AccountsNotAsked"     // that the venue should be asked about, beyond what the fold may want; of functions, beyond what a distributor may
)

// UnknownMarkets, of the domain exchange, is how many markets the exchanges list that are left
// out, as their kind of contract, their status or their name is not known.
const UnknownMarkets = "UnknownMarkets"

// BookGaps, of the domain exchange, is how often order books were lost, as an update of them was
// missing or wrong.
const BookGaps = "BookGaps"

// Of the domain exchange, what large orders are not counted by.
const (
	// LargeOrderEventsLate is how many changes of large levels and trades came too late to be put
	// into the order of their times, or were too many to wait for it.
	LargeOrderEventsLate = "LargeOrderEventsLate"

	// LargeOrdersLeftOut is how many large orders are not followed, as those of their pair before
	// them are as many as may be, or not kept, as too many of their pair were over in the same
	// hour. One is counted as often as its book says it.
	LargeOrdersLeftOut = "LargeOrdersLeftOut"
)

// ChangesLeftOut, of the domain exchange, is how many large runs of takers and large liquidations
// are not said among sudden changes, as too many of their pair were in the same minute.
const ChangesLeftOut = "ChangesLeftOut"

// AlertsNotInForce, of the domain exchange, is how many alerts are set up beyond those that one
// distributor may have in force.
const AlertsNotInForce = "AlertsNotInForce"

// LiquidationsLeftOut, of the domains exchange and perp, is how many liquidations were left out, as
// those of one pair and minute before them take all the room of a row.
const LiquidationsLeftOut = "LiquidationsLeftOut"

// TwapsLeftOut, of the domain perp, is how many statuses and fills of TWAP orders are not counted, as
// more of these run than there ever were.
const TwapsLeftOut = "TwapsLeftOut"

// Of the domain perp, how the hours that the venue publishes are read.
const (
	HoursRead    = "HoursRead"    // hours that were read, in their order or late
	HoursPassed  = "HoursPassed"  // hours that were passed over, as they were missing or broken for six hours
	HoursOwed    = "HoursOwed"    // files that were passed over, or hours in which a node lacks blocks, and have not come yet
	HoursRefused = "HoursRefused" // 1 while the bucket refuses to be read
	HoursBehind  = "HoursBehind"  // ms since the end of the last hour that was read or passed over
)

// LiquidationsUnknown, of the domain perp, is how many executions liquidated somebody of whom
// nobody can tell who it was; they are in no statistic.
const LiquidationsUnknown = "LiquidationsUnknown"

// PositionsLeftOut, of the domain perp, is how many positions are not in the view of those that are
// open, as their figures are not what any market of the venue has: with more than eight decimal places,
// or larger than any.
const PositionsLeftOut = "PositionsLeftOut"

// TradesLeftOut, of the domain perp, is how many trades are in no K-line, as those of one coin and
// second before them take all the room of a row.
const TradesLeftOut = "TradesLeftOut"

// TailsLeftOut, of the domain perp, is how many public trades behind the venue's hours move no position until their hour
// comes, as there were more than have room.
const TailsLeftOut = "TailsLeftOut"

// VaultsLeftOut, of the domain perp, is how often a vault was named for which there is no place, as more
// are known than the venue has.
const VaultsLeftOut = "VaultsLeftOut"

// OtherVenuesLeftOut, of the domain reference, is how many lines of drops of othervenues found no room, as
// those before them name as many addresses or venues as are kept.
const OtherVenuesLeftOut = "OtherVenuesLeftOut"

// HotTraders, of the domain traders, is how many rows of the trader table change all the time.
const HotTraders = "HotTraders"

// PublishingTraders, of the domain traders, is how long the last publication of the trader table took.
const PublishingTraders = "PublishingTraders"

// LateTraders, of the domain traders, is of how many accounts something is known of long ago that the history of
// traders has not yet.
const LateTraders = "LateTraders"

// RoutesLeftOut, of the domain traders, is for how many traders there is no room to keep what builders routed of
// them: what these builders routed is not known.
const RoutesLeftOut = "RoutesLeftOut"

// UnreadTraders, of the domain traders, is how many accounts have rows that cannot be read: theirs of the trader
// table stay as they were.
const UnreadTraders = "UnreadTraders"

// Metrics of each source of the ingester, with the labels [Domain] and [Source];
// [Lag] is one of them too.
const (
	Source = "Source"

	Silence              = "Silence" // ms since the source last emitted anything
	Reconnects           = "Reconnects"
	Malformed            = "Malformed"
	SubscriptionsRefused = "SubscriptionsRefused" // by the venue, or for which it left no room
)

// Metrics of the functions, each counted when it happens.
const (
	Function   = "Function"   // label
	ColdStarts = "ColdStarts" // with the label Function
	Faults     = "Faults"     // answers of 500, with the label Function

	Reason  = "Reason"  // label
	Denials = "Denials" // with the label Reason

	Outcome = "Outcome" // label
	Relayed = "Relayed" // questions that the venue alone can answer, with the label Outcome: answered, kept, refused, failed, away, spent
)
