// Package feeds drives the WebSocket feeds from within the ingester: it keeps the
// present state of the market, knows from the table of connections who follows
// what, and publishes frames on a [hub.Hub], which sends them.
//
//	sources -> Tap -> books, best prices, trades, fills, filled orders, ledgers -> hub
//	pipeline -> Applied -> candles, accounts --------------------------------------^
//	public API, polled only while somebody follows -> accounts without a node, ----^
//	                                                  joined books
//	table of connections -> follow -> who is subscribed to which topic ------------^
//
// Each channel of /ws and each feed of addresses is a publisher in a file of its own
// (channel_*.go, feed_*.go); the map publishers lists them by their name in the
// registry, package channel.
//
// A source's events are shown to the feeds before they are queued for the stores, so
// that no frame waits for a write; only when the stores refuse for so long that the
// queues are full do the sources, and with them the feeds, stand still. Candles come
// from behind the pipeline, since they are read off the very fold that makes the
// stored klines. What a snapshot needs from before the start is read from the stored
// rows when it is subscribed to. Where a part of that is still being read from the
// sources, snapshots of an account's fills and ledger updates wait for it a while, then
// say that they are incomplete, and are sent again when it is stored.
//
// Each event gets a place in the order of arrival when a source delivers it ([arriving]), is
// published with a cursor of that place, and stored with it: a subscription that names a cursor
// begins with what arrived behind it ([replay]). No cursor is ahead of
// what a snapshot is still to show: see [hub.Hub.Await].
//
// Nothing here is state that must survive: after a restart the table says who is
// connected, and every subscription starts with a new snapshot. Events of the feeds of
// addresses, which have none, are published from where the run before stopped, those
// of its last second again. What happened more than ten minutes before it is known, in
// an outage or behind a source that lags, is late: it goes to those who were connected
// when it happened, marked by nothing but its time, and the hub sends it when there is
// nothing else to send. A crash loses late events that wait in the hub then, 1,024 of a
// connection at most, as it does others. The sweeper ends connections that are idle or whose
// sub-key may no longer connect, and finds those whose client left unnoticed.
package feeds
