package drop

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of a drop. What is larger than a file may be is for several files.
const (
	MaxLine = 1 << 20 // bytes, of a line
	MaxFile = 4 << 30 // bytes, of a file when it is unpacked

	linesAtOnce = 10_000 // that are read between two looks at whether to end
)

// ErrTooLarge is a file that is larger than MaxFile: what lies before was read.
var ErrTooLarge = fmt.Errorf("the file is larger than %d GiB: put what is left into another file", MaxFile>>30)

// errLongLine is why a line is not accepted.
var errLongLine = fmt.Errorf("the line is longer than %d MiB", MaxLine>>20)

// Lines calls each for every line of a file that is not blank, with its number from
// 1 on and without its end. The text is valid until each returns; it is nil where the
// line is too long, which err says. A last line without an end is a line like
// others. It holds one line in memory.
//
// The file is unpacked where its name ends with .gz. The error is that of r or of
// each, why ctx ended, or why the file can never be read ([Final]). A reader whose transfer broke off
// says so by another error than io.EOF and io.ErrUnexpectedEOF themselves.
func Lines(ctx context.Context, r io.Reader, file string, each func(line int64, text []byte, err error) error) error {
	if strings.HasSuffix(file, ".gz") {
		unpacked, err := gzip.NewReader(r)
		if err != nil {
			return broken(err)
		}
		r = unpacked
	}
	limited := &io.LimitedReader{R: r, N: MaxFile + 1}
	reader := bufio.NewReaderSize(limited, MaxLine+2) // a line with its end
	for line := int64(1); ; line++ {
		if line%linesAtOnce == 0 && ctx.Err() != nil { // of what is packed little is left to be fetched
			return context.Cause(ctx)
		}
		text, err := reader.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = reader.ReadSlice('\n')
		}
		if limited.N <= 0 {
			return ErrTooLarge
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return broken(err)
		}
		end := err != nil
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // which some editors write
		}
		text = bytes.TrimSpace(text)
		switch {
		case long || len(text) > MaxLine:
			err = each(line, nil, errLongLine)
		case len(text) > 0:
			err = each(line, text, nil)
		default:
			err = nil
		}
		if err != nil || end {
			return err
		}
	}
}

// unreadable is a file that will never be readable, however often it is tried.
type unreadable struct{ cause error }

func (u unreadable) Error() string { return "the file cannot be unpacked: " + u.cause.Error() }
func (u unreadable) Unwrap() error { return u.cause }

// broken marks the error of a file that is no complete gzip, unlike one whose transfer
// broke off.
func broken(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt) || err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // itself: see Lines
		return unreadable{err}
	}
	return err
}

// Final returns why a file can never be read to its end, empty for an error that may
// pass by.
func Final(err error) string {
	var u unreadable
	if errors.Is(err, ErrTooLarge) || errors.As(err, &u) {
		return err.Error()
	}
	return ""
}
