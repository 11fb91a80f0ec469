package feeds

import (
	"encoding/hex"
	"hash/maphash"
	"strings"

	"quotary/shared/market"
)

// fillKey is what makes a fill one, as in the log of fills. It holds no text, which would keep
// the whole line of the source in memory.
type fillKey struct {
	address [20]byte
	time    int64
	id      uint64 // hash of [market.Fill.AppendID]
}

var idSeed = maphash.MakeSeed()

func keyOf(f *market.Fill) fillKey {
	var id [128]byte
	k := fillKey{time: f.Time, id: maphash.Bytes(idSeed, f.AppendID(id[:0]))}
	_, _ = hex.Decode(k.address[:], []byte(strings.TrimPrefix(f.Address, "0x"))) // addresses were checked when they were read
	return k
}
