package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Bounds of what is read.
const (
	maxWord  = 64  // bytes of a word; what is longer is cut
	maxWords = 600 // of a document; what follows is not found
	maxQuery = 32  // words of a query; what follows does not matter

	// maxPlaces is how many places of a word of Chinese are kept of a document, the first ones:
	// a run of words is not found where one of them has stood so often before it. In what people
	// write no pair does, but a character again and again has as many places as the document,
	// and they would be compared for each word of a query. Of all other words the first place
	// is enough.
	maxPlaces = 128
)

// word is one of a text.
type word struct {
	text   string
	at     int  // its place: neighbours follow each other
	dense  bool // it is of a run of Chinese
	joined bool // it stands in one with the word before it
}

// words calls yield with the words of a text, from a place on, and returns the place
// behind them. It stops when yield returns false.
func words(text string, at int, yield func(word) bool) int {
	for rest := strings.ToLower(width.Fold.String(text)); rest != ""; { // ＢＴＣ is btc
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case isDense(r):
			end := strings.IndexFunc(rest, func(r rune) bool { return !isDense(r) })
			if end < 0 {
				end = len(rest)
			}
			var ok bool
			if at, ok = dense(rest[:end], at, yield); !ok {
				return at
			}
			rest = rest[end:]
		case isPlain(r):
			end := plainEnd(rest)
			if !yield(word{text: clean(rest[:end]), at: at}) {
				return at
			}
			at++
			rest = rest[end:]
		default:
			rest = rest[size:]
		}
	}
	return at
}

// isDense reports whether r is of a script that is written without spaces.
func isDense(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isPlain(r rune) bool {
	return r < utf8.RuneSelf && ('a' <= r && r <= 'z' || '0' <= r && r <= '9') ||
		r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !isDense(r)
}

// dense yields the words of a run: pairs of neighbours, and the last character.
func dense(run string, at int, yield func(word) bool) (int, bool) {
	for from, joined := 0, false; from < len(run); joined = true {
		_, size := utf8.DecodeRuneInString(run[from:])
		_, next := utf8.DecodeRuneInString(run[from+size:])
		if !yield(word{run[from : from+size+next], at, true, joined}) {
			return at, false
		}
		at++
		from += size
	}
	return at, true
}

// plainEnd is where the word ends with which a text begins.
func plainEnd(text string) int {
	var before rune
	for i, r := range text {
		if !isPlain(r) {
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			if r == utf8.RuneError || r != '.' && r != ',' || !isDigit(before) || !isDigit(next) {
				return i
			}
		}
		before = r
	}
	return len(text)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// clean is a word without commas, and not too long.
func clean(text string) string {
	text = strings.ReplaceAll(text, ",", "")
	if len(text) <= maxWord {
		return text
	}
	cut := maxWord
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// queryWord is a word that a document must hold.
type queryWord struct {
	text   string
	prefix bool // any word that begins so
}

// run are words of a query that stand right behind each other: one, but of a run of Chinese.
type run []queryWord

// parseQuery returns the runs of a query, each once. Of a run of Chinese the last character is
// a word only where it is the whole run: then it stands anywhere, so as the beginning of
// any pair too.
func parseQuery(query string) (runs []run) {
	read := 0
	words(query, 0, func(w word) bool {
		read++
		_, size := utf8.DecodeRuneInString(w.text)
		single := w.dense && size == len(w.text)
		switch last := len(runs) - 1; {
		case w.joined && single: // the pair before has it
		case w.joined:
			runs[last] = append(runs[last], queryWord{text: w.text})
		default:
			runs = append(runs, run{{text: w.text, prefix: single}})
		}
		return read < maxQuery
	})
	var once []run
	for _, r := range runs {
		if !slices.ContainsFunc(once, func(o run) bool { return slices.Equal(o, r) }) {
			once = append(once, r)
		}
	}
	return once
}
