// Package config reads a program's settings from environment variables.
//
// A program names each variable together with what it is for, collects every
// fault, and fails at start with a message that says what to set.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"quotary/shared/catalog"
)

// Env reads variables and collects what is wrong with them.
// The zero value reads the environment of the process.
type Env struct {
	// Lookup replaces os.LookupEnv, for programs that are tested in process.
	Lookup func(name string) (string, bool)
	faults []error
}

// String returns a variable that must be set.
func (e *Env) String(name, purpose string) string {
	value, ok := e.lookup(name)
	if !ok {
		e.faults = append(e.faults, fmt.Errorf("%s is not set: %s", name, purpose))
	}
	return value
}

// Optional returns a variable, or fallback when it is not set or empty.
func (e *Env) Optional(name, fallback string) string {
	if value, ok := e.lookup(name); ok {
		return value
	}
	return fallback
}

// Bool returns a variable that is on or off, or fallback when it is not set.
func (e *Env) Bool(name string, fallback bool, purpose string) bool {
	value, ok := e.lookup(name)
	if !ok {
		return fallback
	}
	switch value {
	case "on", "true", "1":
		return true
	case "off", "false", "0":
		return false
	}
	e.faults = append(e.faults, fmt.Errorf("%s must be on or off: %s", name, purpose))
	return fallback
}

// Number returns a variable that is a whole number of at least 0, or fallback when it is
// not set.
func (e *Env) Number(name string, fallback int64, purpose string) int64 {
	value, ok := e.lookup(name)
	if !ok {
		return fallback
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		e.faults = append(e.faults, fmt.Errorf("%s must be a whole number of at least 0: %s", name, purpose))
	}
	return n
}

// Text returns a setting of a domain as it is set, or its default where it is not, or
// is not accepted.
func (e *Env) Text(s *catalog.Setting) string {
	value, ok := e.lookup(s.Name)
	if !ok {
		return s.Default
	}
	if s.Check != nil {
		if err := s.Check(value); err != nil {
			e.Refuse(s, err)
			return s.Default
		}
	}
	return value
}

// Int returns a setting that is a whole number, 0 where it has no value.
func (e *Env) Int(s *catalog.Setting) int { return parse(e, s, strconv.Atoi) }

// Duration returns a setting that is a span as Go writes it (250ms, 5s), 0 where it
// has no value.
func (e *Env) Duration(s *catalog.Setting) time.Duration { return parse(e, s, time.ParseDuration) }

func parse[T any](e *Env, s *catalog.Setting, parse func(string) (T, error)) T {
	return Parsed(e, s, func(text string) (T, error) {
		value, err := parse(text)
		if err != nil {
			err = fmt.Errorf("cannot be read: %w", err)
		}
		return value, err
	})
}

// Parsed returns what parse makes of a setting, the zero value where it has none. The
// error of parse says what is accepted.
func Parsed[T any](e *Env, s *catalog.Setting, parse func(text string) (T, error)) (value T) {
	text := e.Text(s)
	if text == "" {
		return value
	}
	value, err := parse(text)
	if err != nil {
		e.Refuse(s, err)
	}
	return value
}

// Objects reads a JSON list of objects without unknown fields. fields are those of T as
// a message shows them, {key, cik}, and most is how many objects there may be, which are
// called what they are.
func Objects[T any](text, fields string, most int, called string) (list []T, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return nil, fmt.Errorf("must be a JSON list of %s: %w", fields, err)
	}
	if len(list) > most {
		return nil, fmt.Errorf("must have at most %d %s", most, called)
	}
	return list, nil
}

// Refuse adds a fault of a setting: err says what is accepted.
func (e *Env) Refuse(s *catalog.Setting, err error) {
	e.faults = append(e.faults, fmt.Errorf("%s %w: %s", s.Name, err, s.Purpose))
}

// Err returns everything that was wrong, or nil.
func (e *Env) Err() error { return errors.Join(e.faults...) }

func (e *Env) lookup(name string) (string, bool) {
	lookup := e.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	value, ok := lookup(name)
	return value, ok && value != ""
}
