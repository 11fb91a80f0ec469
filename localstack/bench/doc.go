// Package bench compares the fan-out of quotary/shared/feed with that of
// centrifuge, the library under the Centrifugo server, in one run of the same
// work: once up to a sink that counts, and once up to WebSocket clients over
// loopback, where every frame of ours is a signed request to the management API
// of the local gateway. It is a module of its own, so that centrifuge is no
// dependency of the product. Run it with
//
//	go test -bench . -cpu 1
package bench
