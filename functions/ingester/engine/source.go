package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"quotary/functions/ingester/source"
	"quotary/shared/catalog"
)

// Batch is what the sources of one domain emit, many kinds of events in one
// value, each kind in the order in which it was emitted. B is the domain's own
// type, usually a pointer to a struct.
type Batch[B any] interface {
	// Merge appends a batch that came later, and may keep what that holds. The
	// zero B is no events.
	Merge(later B)

	// Len is the number of events.
	Len() int
}

// Position is a place in a source, in the source's own encoding: it is stored as
// it is and given back after a restart. Nil is the beginning.
type Position []byte

// compressAbove is from how many bytes of JSON on a position is compressed: what a source
// remembers of thousands of pairs repeats itself, and one item of the store holds 400 KB.
const compressAbove = 16 << 10

// mostPosition is how many bytes of JSON a position may have once it is unpacked.
const mostPosition = 16 << 20

// packing compresses positions. Both are safe for use by many goroutines.
var packing = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are right
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostPosition))
	if err != nil {
		panic(err)
	}
	return zip, unzip
})

// PositionOf is the position that v is, as JSON, compressed where that is long.
func PositionOf(v any) (Position, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode a position: %w", err)
	}
	if len(text) > compressAbove {
		zip, _ := packing()
		return zip.EncodeAll(text, nil), nil
	}
	return text, nil
}

// zstdMagic begins what is compressed, and no JSON.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Decode reads into v what [PositionOf] encoded; the beginning leaves it as it is.
func (p Position) Decode(v any) error {
	if p == nil {
		return nil
	}
	text := []byte(p)
	if bytes.HasPrefix(text, zstdMagic) {
		_, unzip := packing()
		var err error
		if text, err = unzip.DecodeAll(text, nil); err != nil {
			return fmt.Errorf("unpack a position: %w", err)
		}
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read a position: %w", err)
	}
	return nil
}

// Delivery is a run of events and where its source stands after it.
type Delivery[B any] struct {
	Batch    B        // the zero B for none
	Position Position // behind the events; nil from a source without positions

	// Part names the checkpoint of a source that has more than one, e.g. one for
	// each file; "" is the source's own.
	Part string

	// Stored is closed when everything up to here is stored, the position
	// included. Nil is fine.
	Stored chan struct{}

	// PastRead says, once, that a source with a past has delivered all of it.
	PastRead bool

	// Spoken says that the source has been asked for all that it brings: of that there is
	// nothing but what was delivered.
	Spoken bool

	// Until is up to when, ms, all that happened has been delivered by a source that is
	// [Source.Periodic]; 0 says nothing of it.
	Until int64
	// Missing are the hours before Until, each by its beginning, ms, of which the source has not delivered all.
	Missing []int64
}

// Sink takes deliveries in order. It blocks while the pipeline is behind: that is
// the only queue, and the pipeline bounds it.
type Sink[B any] func(context.Context, Delivery[B]) error

// Store delivers and returns when everything up to the delivery is stored.
func (s Sink[B]) Store(ctx context.Context, d Delivery[B]) error {
	d.Stored = make(chan struct{})
	if err := s(ctx, d); err != nil {
		return err
	}
	select {
	case <-d.Stored:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Source emits events until its context ends.
type Source[B any] struct {
	Name  string        // of its checkpoint, unique in its domain
	Group string        // sources of which one that speaks is enough, for readiness; "" may be silent
	Stats *source.Stats // what it has seen

	// Follow delivers what comes after a position until ctx ends. It returns then,
	// or when the sink fails, and never else: trouble outside is logged, counted in
	// Stats and tried again.
	Follow func(ctx context.Context, from Position, sink Sink[B]) error

	// NoCheckpoint is set for a source without positions.
	NoCheckpoint bool

	// Background is set for a source that gives way to all others.
	Background bool

	// Brings are the datasets that wait for this source: of each one that has spoken is
	// enough. It has spoken of one with the first batch that holds something of it (see
	// [Pipeline.Holds]), or when it says so by [Delivery.Spoken].
	Brings []catalog.Need

	// Periodic is set for a source that brings what happened some time later, by the hour or so:
	// readers learn up to when it has, of what no other source brings, see [Delivery.Until].
	Periodic bool

	// Awaited is set for a source, or one of its Group, that says something within seconds
	// where all is well: until it has, the domain is not ready.
	Awaited bool

	// Past is set for a source of what happened before its domain was followed. Until
	// it has said by [Delivery.PastRead] that all of it was delivered, no projection has
	// joined, and the domain is not ready.
	Past bool
}

// Checkpoint is the name under which the position of a source is stored. Part is
// that of [Delivery].
func Checkpoint(domain, source, part string) string {
	name := domain + "/" + source
	if part != "" {
		name += "/" + part
	}
	return name
}
