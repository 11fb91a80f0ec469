package lz4frames_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pierrec/lz4/v4"

	"quotary/functions/ingester/source/hyperliquid/lz4frames"
	"quotary/shared/testing/must"
)

// text is some lines that are like each other, as those of a node are.
func text(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d of a file that was made up\n", i%37)
	}
	return b.String()
}

// packed is a frame of a text.
func packed(t testing.TB, text string, options ...lz4.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	must.Do(t, w.Apply(append([]lz4.Option{lz4.BlockSizeOption(lz4.Block64Kb)}, options...)...))
	must.Get(io.WriteString(w, text))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

// reference is text(6000) as the reference's own program packs it with lz4 -B4 -BD -BX
// --content-size: blocks that refer to those before, with all checksums.
func reference(t testing.TB) []byte {
	t.Helper()
	return must.Get(base64.StdEncoding.DecodeString(strings.ReplaceAll(string(must.Get(os.ReadFile("testdata/linked.lz4.base64"))(t)), "\n", "")))(t)
}

func skippable(content string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0x184D2A53)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	return append(b, content...)
}

func concat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestFramesThatAreWholeAreRead(t *testing.T) {
	t.Parallel()
	long := text(6000)
	bare := packed(t, long, lz4.ChecksumOption(false))
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"one frame":                   {packed(t, long), long},
		"one without checksums":       {bare, long},
		"one with all of them":        {packed(t, long, lz4.BlockChecksumOption(true), lz4.SizeOption(uint64(len(long)))), long},
		"one of the reference":        {reference(t), long},
		"one of nothing":              {packed(t, ""), ""},
		"three in a row":              {concat(packed(t, long), bare, reference(t)), long + long + long},
		"what is to be skipped":       {concat(skippable("a"), bare, skippable(""), packed(t, "b"), skippable("more")), long + "b"},
		"what cannot be made smaller": {packed(t, "xyz"), "xyz"},
	} {
		for how, read := range map[string]func(io.Reader) io.Reader{
			"as it is": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
		} {
			got, err := io.ReadAll(lz4frames.NewReader(read(bytes.NewReader(c.file))))
			if err != nil || string(got) != c.want {
				t.Errorf("%s, read %s: %d bytes, %v; want %d", name, how, len(got), err, len(c.want))
			}
		}
	}
}

// TestACutFileIsNoticedWhereverItEnds also where the library alone would report the end of the file.
func TestACutFileIsNoticedWhereverItEnds(t *testing.T) {
	t.Parallel()
	long := text(6000)
	bare := packed(t, long, lz4.ChecksumOption(false))
	for name, file := range map[string][]byte{"without checksums": bare, "the reference's": reference(t), "of two frames": concat(bare, packed(t, "b"))} {
		silent := 0
		for n := range len(file) {
			if n == len(bare) && bytes.HasPrefix(file, bare) {
				continue // the first of two frames is whole
			}
			if n > 40 && n < len(file)-40 && n%11 > 0 {
				continue // inside of blocks, some of the places
			}
			got, err := io.ReadAll(lz4frames.NewReader(bytes.NewReader(file[:n])))
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s, cut after %d of %d bytes: %d bytes, %v", name, n, len(file), len(got), err)
			}
			if _, err := io.ReadAll(lz4.NewReader(bytes.NewReader(file[:n]))); err == nil {
				silent++
			}
		}
		if silent == 0 && name == "without checksums" {
			t.Error("the library reports every cut by itself: this package has nothing to do")
		}
	}
}

func TestWhatIsBrokenIsRefused(t *testing.T) {
	t.Parallel()
	long := text(6000)
	file, bare := packed(t, long), packed(t, long, lz4.ChecksumOption(false))
	with := func(file []byte, at int, to ...byte) []byte {
		file = bytes.Clone(file)
		copy(file[(at+len(file))%len(file):], to)
		return file
	}
	sized := packed(t, long, lz4.SizeOption(uint64(len(long))))
	for name, c := range map[string]struct {
		file []byte
		want error // nil for one of the library's
	}{
		"nothing":                            {nil, io.ErrUnexpectedEOF},
		"nothing but what is skipped":        {skippable("a"), io.ErrUnexpectedEOF},
		"something else":                     {[]byte(`{"local_time":"2026"}`), lz4frames.ErrNoFrame},
		"bytes behind the last frame":        {concat(file, []byte("more")), lz4frames.ErrNoFrame},
		"few bytes behind it":                {concat(file, []byte{4}), io.ErrUnexpectedEOF},
		"a second end mark":                  {concat(bare, []byte{0, 0, 0, 0}), lz4frames.ErrNoFrame},
		"an old kind of frame":               {[]byte{2, 0x21, 0x4C, 0x18, 0, 0, 0, 0}, lz4frames.ErrNoFrame},
		"a dictionary":                       {with(file, 4, file[4]|1), lz4frames.ErrHeader},
		"a later version":                    {with(file, 4, file[4]|0x80), lz4frames.ErrHeader},
		"a block size that there is not":     {with(file, 5, 0x30), lz4frames.ErrHeader},
		"another header than its checksum's": {with(file, 6, file[6]+1), nil},
		"a checksum of another content":      {with(file, -1, file[len(file)-1]+1), nil},
		"a block larger than all may be":     {with(bare, 7, 1, 0, 1, 0), lz4frames.ErrBlock},
		"a content larger than it is":        {sizedAs(sized, uint64(len(long))+1), lz4frames.ErrSize},
	} {
		_, err := io.ReadAll(lz4frames.NewReader(bytes.NewReader(c.file)))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// sizedAs is a frame whose header says another size of its content.
func sizedAs(file []byte, size uint64) []byte {
	file = bytes.Clone(file)
	binary.LittleEndian.PutUint64(file[6:], size)
	file[14] = headerSum(file[4:14])
	return file
}

// headerSum is the checksum of a header: the second byte of its xxHash.
func headerSum(b []byte) byte {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	h := uint32(p5) + uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		h += binary.LittleEndian.Uint32(b) * p3
		h = (h<<17 | h>>15) * p4
	}
	for _, c := range b {
		h += uint32(c) * p5
		h = (h<<11 | h>>21) * p1
	}
	h ^= h >> 15
	h *= p2
	h ^= h >> 13
	h *= p3
	return byte((h ^ h>>16) >> 8)
}

// TestEachByteOfAFrameWithChecksumsCounts flips a bit of many of them.
func TestEachByteOfAFrameWithChecksumsCounts(t *testing.T) {
	t.Parallel()
	want, file := text(6000), reference(t)
	for at := 0; at < len(file); at += 1 + at/200 {
		file[at] ^= 1 << (at % 8)
		got, err := io.ReadAll(lz4frames.NewReader(bytes.NewReader(file)))
		if err == nil && string(got) != want {
			t.Fatalf("with a bit of byte %d flipped it gives another text of %d bytes", at, len(got))
		}
		file[at] ^= 1 << (at % 8)
	}
}

func TestTheErrorOfAFileStays(t *testing.T) {
	t.Parallel()
	broken := errors.New("the connection was lost")
	r := lz4frames.NewReader(io.MultiReader(bytes.NewReader(packed(t, text(6000))[:500]), iotest.ErrReader(broken)))
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, broken) {
		t.Errorf("then %d, %v", n, err)
	}
}

func FuzzFramesAreReadOrRefused(f *testing.F) {
	f.Add(packed(f, text(100)))
	f.Add(concat(packed(f, text(10), lz4.ChecksumOption(false)), skippable("x")))
	f.Add(reference(f))
	f.Fuzz(func(t *testing.T, file []byte) {
		n, err := io.Copy(io.Discard, io.LimitReader(lz4frames.NewReader(bytes.NewReader(file)), 64<<20))
		if err == nil && n == 0 && len(file) < 11 {
			t.Errorf("%d bytes are whole", len(file))
		}
	})
}

func TestFramesAreCounted(t *testing.T) {
	t.Parallel()
	const most = 200_000
	one := packed(t, "", lz4.ChecksumOption(false))
	for frames, want := range map[int]error{most: nil, most + 1: lz4frames.ErrFrames} {
		if _, err := io.Copy(io.Discard, lz4frames.NewReader(bytes.NewReader(bytes.Repeat(one, frames)))); !errors.Is(err, want) {
			t.Errorf("%d frames: %v, want %v", frames, err, want)
		}
	}
}
