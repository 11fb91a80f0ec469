package feeds

import "quotary/shared/gate/channel"

// frameMost bounds a frame, in bytes: API Gateway takes 128 KB.
const frameMost = 120_000

// What the data of channels with a history of accounts begins with: an update, a
// snapshot, or one from which a part of what happened before the start may be missing.
const (
	updateMembers     = `{`
	snapshotMembers   = `{"isSnapshot":true,`
	incompleteMembers = `{"isSnapshot":true,"incomplete":true,`
)

// inChannel opens a frame of /ws; what is appended to it is the data, and a
// closing brace ends it.
func inChannel(name channel.Name) []byte {
	return append(append(append(make([]byte, 0, 1024), `{"channel":"`...), name...), `","data":`...)
}

// addressFrame is the frame of a feed of addresses with one event.
func addressFrame(bodies [][]byte) []byte { return append(append(inAddressFeed(), bodies[0]...), '}') }

// inAddressFeed opens a frame of a feed of addresses; what is appended to it is the
// data, and a closing brace ends it.
func inAddressFeed() []byte { return append(make([]byte, 0, 768), `{"type":"data","data":`...) }
