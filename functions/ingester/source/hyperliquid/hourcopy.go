package hyperliquid

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source/hyperliquid/lz4frames"
	"quotary/shared/venue/wire"
)

const (
	// heldMost is how much of a file is kept in memory while it is looked through, so that it need not
	// be paid for twice: most have some 30 MB. Of a larger one the bucket is asked again.
	heldMost = 64 << 20
	// mostHour bounds a file, in bytes as it is stored.
	mostHour = 4 << 30
	// mostHourText and mostHourLines bound what is in it, in bytes and in lines, of which an hour has
	// one a block: a megabyte of a file can be 255 million empty lines.
	mostHourText  = 32 << 30
	mostHourLines = 1_000_000
	// mostSearched bounds the bytes of the lines whose block is told neither before the events nor behind
	// them: these are read as a whole for it, at a hundredth of the speed. No file has any.
	mostSearched = 16 << 20
)

var errHourText = errors.New("it has more lines, or bytes, than any hour")

// brokenFile is the error of a file that came as the bucket has it, and is not whole.
type brokenFile struct{ error }

func (e *brokenFile) Unwrap() error { return e.error }

func broken(err error) error { return &brokenFile{err} }

// isBroken reports whether an error is that of a file, and none of the way there.
func isBroken(err error) bool { return errors.As(err, new(*brokenFile)) }

// hourCopy is a file of an hour that was looked through from its first byte to its last: its frames are
// whole, and each line of it that is of a block is numbered. Nothing of a file is emitted before.
type hourCopy struct {
	bucket HourBucket
	key    string
	file   HourFile
	body   []byte // as it is stored; nil where it is too large to be held

	first, last int64 // numbers of its blocks, 0 without any
	holes       int64 // numbers that are missing in between

	sum string // of its blocks and their events, whoever wrote them when
}

// copyHour fetches a file and looks through it.
func copyHour(ctx context.Context, bucket HourBucket, key string, file HourFile, held int64) (*hourCopy, error) {
	if file.Size > mostHour {
		return nil, broken(fmt.Errorf("%s has %d bytes: at most %d are read", key, file.Size, int64(mostHour)))
	}
	body, err := bucket.Get(ctx, key, file.ETag)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	c := &hourCopy{bucket: bucket, key: key, file: file}
	raw := &countedReader{r: body}
	if file.Size <= held {
		raw.kept = bytes.NewBuffer(make([]byte, 0, file.Size))
	}
	err = guard.Do(func() error { return c.lookThrough(raw) })
	if raw.err == nil && raw.n < file.Size && errors.Is(err, io.ErrUnexpectedEOF) {
		raw.err = err
	}
	switch {
	case raw.err != nil: // it is not as the bucket has it
		return nil, fmt.Errorf("get %s: %d of %d bytes came: %w", key, raw.n, file.Size, raw.err)
	case err != nil:
		return nil, broken(fmt.Errorf("%s is not whole: %w", key, err))
	case raw.n != file.Size:
		return nil, fmt.Errorf("get %s: %d bytes came of %d", key, raw.n, file.Size)
	}
	if raw.kept != nil {
		c.body = raw.kept.Bytes()
	}
	return c, nil
}

// countedReader counts what is read and keeps it, and the error that is no end of the file.
type countedReader struct {
	r    io.Reader
	n    int64
	err  error
	kept *bytes.Buffer // nil for nothing
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.kept != nil {
		c.kept.Write(p[:n])
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// lookThrough reads all of a file, and notes the blocks that it has.
func (c *hourCopy) lookThrough(raw io.Reader) error {
	l, sum := newHourLines(raw), sha256.New()
	for {
		before := l.block
		line, err := l.nextBlock()
		if errors.Is(err, io.EOF) {
			c.sum = hex.EncodeToString(sum.Sum(nil)[:12])
			return nil
		}
		if err != nil {
			return err
		}
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(l.block))) //nolint:gosec // it is above 0
		_, _ = sum.Write(line[max(0, bytes.Index(line, eventsMark)):])
		if before > 0 {
			c.holes += l.block - before - 1
		} else {
			c.first = l.block
		}
		c.last = l.block
	}
}

// open returns the lines of a file.
func (c *hourCopy) open(ctx context.Context) (*hourLines, error) {
	if c.body != nil {
		return newHourLines(bytes.NewReader(c.body)), nil
	}
	body, err := c.bucket.Get(ctx, c.key, c.file.ETag)
	if err != nil {
		return nil, err
	}
	l := newHourLines(body)
	l.body = body
	return l, nil
}

// hourLines are the lines of a compressed file.
type hourLines struct {
	*lines
	body  io.Closer // nil where it is in memory
	count int       // lines that were read

	block     int64 // number of the last block, 0 before the first
	malformed int64 // lines that are of no block, or too long
	searched  int64 // bytes of lines that were read as a whole for their block
}

func newHourLines(raw io.Reader) *hourLines {
	return &hourLines{lines: &lines{r: &boundedText{of: lz4frames.NewReader(raw), left: mostHourText}, max: maxLine}}
}

// next returns the next line, which is valid until the next call. Behind the last one, which needs no
// line break, it is [io.EOF].
func (l *hourLines) next() ([]byte, error) {
	if l.count++; l.count > mostHourLines {
		return nil, errHourText
	}
	line, err := l.lines.next()
	if !errors.Is(err, io.EOF) {
		return line, err
	}
	if line = l.rest(); len(line) > 0 {
		return line, nil
	}
	return nil, io.EOF
}

// nextBlock returns the next line of a block that comes behind those before it in the file: one that
// comes again, as where the writing node began again, is left out. So is a line of no block, and one
// whose number no hour that has those before it can have: all blocks up to that number would count as
// read, in every hour that follows.
func (l *hourLines) nextBlock() ([]byte, error) {
	for {
		long := l.tooLong
		line, err := l.next()
		l.malformed += l.tooLong - long
		if err != nil {
			return nil, err
		}
		number, ok, found := blockOf(line)
		if !found {
			if l.searched += int64(len(line)); l.searched > mostSearched {
				return nil, errHourText
			}
			number, ok = blockWithin(line)
		}
		if !ok || l.block > 0 && number-l.block > mostHourLines {
			l.malformed++
			continue
		}
		if number > l.block {
			l.block = number
			return line, nil
		}
	}
}

func (l *hourLines) close() {
	if l.body != nil {
		_ = l.body.Close() // what was read of it was whole
	}
}

// boundedText reads so much of a file, and fails behind it: a line that is too long is skipped, however
// long it is.
type boundedText struct {
	of   io.Reader
	left int64
}

func (b *boundedText) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errHourText
	}
	n, err := b.of.Read(p)
	b.left -= int64(n)
	return n, err
}

var numberMark, eventsMark = []byte(`"block_number":`), []byte(`"events":`)

// blockOf is the number of the block of a line, not ok where no block has it; not found where it stands
// neither before the events nor behind them.
func blockOf(line []byte) (number int64, ok, found bool) {
	// The node writes it before the events, of which a block has thousands.
	head, _, _ := bytes.Cut(line, []byte("["))
	tail := line[bytes.LastIndexByte(line, ']')+1:]
	for _, part := range [...]struct {
		text  []byte
		brace string
	}{{head, "{"}, {tail, "}"}} {
		_, digits, has := bytes.Cut(part.text, numberMark)
		if !has || bytes.Count(part.text, []byte(part.brace)) != 1 || len(part.text) == len(line) {
			continue
		}
		digits = digits[:max(0, bytes.IndexAny(digits, ",}"))]
		if number, found = integer(digits); found {
			return number, number <= (1<<62)/wire.SeqPerBlock, true
		}
	}
	return 0, false, false
}

// blockWithin is the number of the block of a line, wherever it stands.
func blockWithin(line []byte) (number int64, ok bool) {
	var b struct {
		Number *int64 `json:"block_number"`
	}
	if json.Unmarshal(line, &b) != nil || b.Number == nil {
		return 0, false
	}
	return *b.Number, 0 < *b.Number && *b.Number <= (1<<62)/wire.SeqPerBlock
}

// integer reads up to 18 digits.
func integer(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n > 0
}
