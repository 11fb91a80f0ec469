package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// list binds a list of texts, numbers or values that parse themselves.
//
// In the query it is written a,b or x=a&x=b or x[]=a&x[]=b or x[0]=a&x[1]=b, or mixed; in
// a body also as a JSON array, whose entries may be strings or numbers. Entries of a text
// are trimmed and empty ones left out, as a comma too many is what clients send by
// mistake. A text without any entry is as good as absent.
type list struct {
	size  size
	entry setter[string]
	of    string // what an entry may be
	such  string // " (for example a)"
	set   bool   // null is left out, and an entry that comes again counts once
}

// size is how many entries a list may have.
type size struct {
	least, most int64
	cut         int    // entries beyond are dropped, 0 = none
	words       string // " of 1 to 5 entries"
}

func compileSize(tag reflect.StructTag) (s size, err error) {
	if s.least, s.most, err = bounds(tag, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }); err != nil {
		return s, err
	}
	if text := tag.Get("cut"); text != "" {
		if s.cut, err = strconv.Atoi(text); err != nil {
			return s, fmt.Errorf("cut: %w", err)
		}
	}
	switch least, most := tag.Get("min"), tag.Get("max"); {
	case least != "" && most != "":
		s.words = " of " + least + " to " + most + " entries"
	case least != "":
		s.words = " of at least " + least + " entries"
	case most != "":
		s.words = " of at most " + most + " entries"
	}
	return s, nil
}

func (s *size) allows(n int) bool { return int64(n) >= s.least && int64(n) <= s.most }

// compileList reads the tags of a list: enum, maxlen and example hold for each entry, min,
// max and cut for their number.
func compileList(t reflect.Type, tag reflect.StructTag) (*list, error) {
	l := &list{such: forExample(tag), set: tag.Get("list") == "set"}
	var err error
	if l.size, err = compileSize(tag); err != nil {
		return l, err
	}
	ofEntry := reflect.StructTag(fmt.Sprintf("enum:%q maxlen:%q example:%q", tag.Get("enum"), tag.Get("maxlen"), tag.Get("example")))
	l.of, l.entry, err = compileScalar(t.Elem(), ofEntry)
	return l, err
}

func (l *list) accepted() string { return "a list" + l.size.words + l.such }

// bindList binds a list from wherever it comes.
func (f *field) bindList(req *request, body map[string]json.RawMessage, at reflect.Value) error {
	var texts []string
	if f.source == fromQuery {
		texts = split(req.listValues(f.names))
	} else {
		raw, err := f.member(body)
		if err != nil {
			return err
		}
		var given bool
		var nulls int
		if texts, nulls, given, err = entries(raw); err == nil && nulls > 0 && !f.list.set {
			err = errNullEntry
		}
		if errors.Is(err, errEntry) {
			return f.wrongEntry()
		}
		if err != nil {
			return f.wrong(err)
		}
		if given { // [] is a list without entries, and is held to its size
			return f.setList(at, texts, nulls)
		}
	}
	if len(texts) == 0 {
		if f.required {
			return BadParameter("missing %s: it must be %s", f.names[0], f.accepted)
		}
		if texts = split([]string{f.fallback}); len(texts) == 0 {
			return nil
		}
	}
	return f.setList(at, texts, 0)
}

// setList binds entries. Nulls are bound to nothing, but are enough for the least number: who
// asks for ids of which none could be read asks for none.
func (f *field) setList(at reflect.Value, texts []string, nulls int) error {
	l := f.list
	if int64(len(texts)+nulls) < l.size.least {
		return f.wrong(errNotAccepted)
	}
	values, known := reflect.MakeSlice(at.Type(), 0, 0), map[any]bool{}
	for _, text := range texts {
		if l.size.cut > 0 && values.Len() == l.size.cut {
			break
		}
		if l.set && text == null {
			continue
		}
		if !utf8.ValidString(text) {
			return BadParameter("invalid %s: must be valid UTF-8", f.names[0])
		}
		value := reflect.New(at.Type().Elem()).Elem()
		if err := l.entry(value, text); err != nil {
			return f.wrongEntry()
		}
		if l.set {
			if known[value.Interface()] {
				continue
			}
			known[value.Interface()] = true
		}
		if values = reflect.Append(values, value); int64(values.Len()) > l.size.most {
			return f.wrong(errNotAccepted)
		}
	}
	at.Set(values)
	return nil
}

// wrongEntry says what an entry may be.
func (f *field) wrongEntry() error {
	return BadParameter("invalid %s: a value in it must be %s", f.names[0], f.list.of)
}

// split reads the entries of comma-joined texts.
func split(texts []string) (entries []string) {
	for _, text := range texts {
		for entry := range strings.SplitSeq(text, ",") {
			if entry = strings.TrimSpace(entry); entry != "" {
				entries = append(entries, entry)
			}
		}
	}
	return entries
}

// entries reads a list of a body, and how many entries beside are null; a text without
// entries is not given.
func entries(raw json.RawMessage) (texts []string, nulls int, given bool, err error) {
	if len(raw) == 0 {
		return nil, 0, false, nil
	}
	if raw[0] != '[' {
		text, err := scalar(raw)
		texts = split([]string{text})
		return texts, 0, len(texts) > 0, err
	}
	var members []json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, 0, false, err
	}
	for _, member := range members {
		if string(member) == null {
			nulls++
			continue
		}
		text, err := scalar(member)
		if err != nil {
			return nil, 0, false, errEntry
		}
		texts = append(texts, text)
	}
	return texts, nulls, true, nil
}

// null is what clients send for an id that they could not read.
const null = "null"

var (
	errNullEntry = errors.New("an entry is null")
	errEntry     = errors.New("an entry is no text, number or boolean")
)
