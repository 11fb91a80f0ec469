// Package bench compares the fan-out of quotary/functions/ingester/feeds/hub with that of
// centrifuge, the library under the Centrifugo server, in one run of the same
// work: once up to a sink that counts, and once up to WebSocket clients over
// loopback. It is a module of its own, so that centrifuge is no dependency of the
// product. Run it with
//
//	go test -bench . -benchtime 0.5s
//
// and -cpu 1 for what one core does.
//
// # What is compared
//
// Both sides run in the process of their clients, which are the same for both. A
// frame of centrifuge goes from its hub to the client's socket; it works in memory,
// and with its defaults but for the bounds of queues and subscriptions, which the
// benchmark would hit. What waits for a client it joins into one message.
//
// A frame of ours is a signed request to the management API of the local gateway,
// over HTTP and loopback, and becomes a message of its own. So it is signed, written,
// read and parsed once more, and answered. BenchmarkPost of
// quotary/functions/ingester/feeds/management says what the client's part costs.
//
// The two of a pair run one after the other. A shared machine is not the same
// machine a minute later: compare within pairs, and the median of several runs.
package bench
