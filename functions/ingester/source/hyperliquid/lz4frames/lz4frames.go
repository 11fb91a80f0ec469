// Package lz4frames reads what was compressed as LZ4 frames, and reports whether all of it was
// there. https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md is the format.
//
// The library decompresses a frame and checks its checksums. But where a frame without a checksum
// of its content is cut between two blocks, or before its end mark, it reports the end of the
// file, as if that were whole. So the frames are followed here, block by block, and the library
// gets the bytes of one of them at a time.
package lz4frames

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// The errors of files that are not whole. A file that ends too early gives [io.ErrUnexpectedEOF]; of a
// wrong checksum or block the library has errors of its own.
var (
	ErrNoFrame = errors.New("there is no LZ4 frame where one should begin")
	ErrHeader  = errors.New("the header of an LZ4 frame is of no known form")
	ErrBlock   = errors.New("a block of an LZ4 frame is larger than its header says")
	ErrSize    = errors.New("an LZ4 frame has another size than its header says")
	ErrFrames  = errors.New("there are more LZ4 frames than are read")
)

// mostFrames bounds those of a file: each costs as much as thousands of bytes, and one without content has
// eleven. Whoever writes a frame a block of the venue has less than half as many in an hour.
const mostFrames = 200_000

const (
	frameMagic = 0x184D2204
	// Sixteen magic numbers begin frames of anything, which readers skip.
	skipMagic = 0x184D2A50
	skipMask  = 0xFFFFFFF0
)

// Bits of a header's first byte.
const (
	hasDictionary      = 1 << 0
	reservedBit        = 1 << 1
	hasContentChecksum = 1 << 2
	hasContentSize     = 1 << 3
	hasBlockChecksums  = 1 << 4
	versionBits        = 3 << 6
	version            = 1 << 6
)

// notCompressed is the bit of a block's size that says that it is stored as it is.
const notCompressed = 1 << 31

// Reader decompresses frames that follow each other. It holds a block of at most 4 MB, and what the
// library needs for one. It is not safe for concurrent use.
type Reader struct {
	src   *bufio.Reader
	frame *frame      // that is being read, nil between two
	zip   *lz4.Reader // of it
	read  uint64      // bytes that came of it
	count int         // frames that were read
	err   error       // the last one, which stays
}

// NewReader returns a reader of a file. A file without any frame is not whole.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, 64<<10)}
}

// Read decompresses into p. It returns [io.EOF] where the last frame has ended as it should, with all
// that its header promises, and nothing is behind it.
func (r *Reader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for n == 0 && r.err == nil {
		if r.frame == nil {
			r.err = r.begin()
			continue
		}
		n, err = r.zip.Read(p)
		r.read += uint64(n)
		switch {
		case errors.Is(err, io.EOF):
			r.err = r.end()
		case err != nil:
			r.err = fmt.Errorf("decompress: %w", err)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// begin looks for the next frame. It is [io.EOF] that there is none.
func (r *Reader) begin() error {
	for {
		var magic [4]byte
		_, err := io.ReadFull(r.src, magic[:])
		if errors.Is(err, io.EOF) && r.count > 0 {
			return io.EOF
		}
		if err != nil {
			return early(err)
		}
		switch m := binary.LittleEndian.Uint32(magic[:]); {
		case m == frameMagic && r.count == mostFrames:
			return ErrFrames
		case m == frameMagic:
			return r.open(magic[:])
		case m&skipMask == skipMagic:
			if err := r.skip(); err != nil {
				return err
			}
		default:
			return ErrNoFrame
		}
	}
}

func (r *Reader) skip() error {
	size, err := uint32Of(r.src)
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, r.src, int64(size)); err != nil {
		return early(err)
	}
	return nil
}

// open reads the header of a frame behind its magic number.
func (r *Reader) open(header []byte) error {
	var flags [2]byte
	if _, err := io.ReadFull(r.src, flags[:]); err != nil {
		return early(err)
	}
	f := &frame{src: r.src, flags: flags[0]}
	size := int(flags[1] >> 4 & 7) // 4 to 7: 64 KB, 256 KB, 1 MB, 4 MB
	if f.flags&versionBits != version || f.flags&(hasDictionary|reservedBit) != 0 || flags[1]&0x8F != 0 || size < 4 {
		return ErrHeader
	}
	f.block = 1 << (8 + 2*size)
	behind := 1 // the header's own checksum
	if f.flags&hasContentSize != 0 {
		behind += 8
	}
	rest := make([]byte, behind)
	if _, err := io.ReadFull(r.src, rest); err != nil {
		return early(err)
	}
	if f.flags&hasContentSize != 0 {
		f.size = binary.LittleEndian.Uint64(rest)
	}
	f.head = append(append(header, flags[:]...), rest...)
	r.frame, r.zip, r.read = f, lz4.NewReader(f), 0
	return nil
}

// end looks whether a frame of which the library expects no more has ended.
func (r *Reader) end() error {
	f := r.frame
	switch {
	case !f.ended || len(f.head) > 0:
		return io.ErrUnexpectedEOF
	case f.flags&hasContentSize != 0 && f.size != r.read:
		return ErrSize
	}
	r.frame, r.zip = nil, nil
	r.count++
	return nil
}

// frame gives the library the bytes of one frame, and then the end of its file.
type frame struct {
	src   *bufio.Reader
	flags byte
	size  uint64 // of the content, if the header has it
	block uint32 // the largest block
	head  []byte // bytes that come next
	left  int64  // bytes of a block behind them
	ended bool   // nothing comes behind them
}

func (f *frame) Read(p []byte) (n int, err error) {
	if len(f.head) == 0 && f.left == 0 {
		if f.ended {
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	if len(f.head) > 0 {
		n = copy(p, f.head)
		f.head = f.head[n:]
		return n, nil
	}
	n, err = f.src.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, early(err)
}

// next reads what begins a block, or all that is behind the last one.
func (f *frame) next() error {
	word, err := uint32Of(f.src)
	if err != nil {
		return err
	}
	f.head = binary.LittleEndian.AppendUint32(f.head[:0], word)
	if word == 0 {
		if f.flags&hasContentChecksum != 0 {
			sum, err := uint32Of(f.src)
			if err != nil {
				return err
			}
			f.head = binary.LittleEndian.AppendUint32(f.head, sum)
		}
		f.ended = true
		return nil
	}
	size := word &^ notCompressed
	if size > f.block {
		return ErrBlock
	}
	f.left = int64(size)
	if f.flags&hasBlockChecksums != 0 {
		f.left += 4
	}
	return nil
}

func uint32Of(r io.Reader) (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, early(err)
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// early is the error of a file that ends where it should go on.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
