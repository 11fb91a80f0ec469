// Package config reads a program's settings from environment variables.
//
// A program names each variable together with what it is for, collects every
// fault, and fails at start with a message that says what to set.
package config

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
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

// Int returns a whole number of at least least, or fallback when it is not set.
func (e *Env) Int(name string, fallback, least int, purpose string) int {
	value, ok := e.lookup(name)
	if !ok {
		return fallback
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least {
		e.faults = append(e.faults, fmt.Errorf("%s must be a whole number of at least %d: %s", name, least, purpose))
		return fallback
	}
	return n
}

// Duration returns a positive span as Go writes it (250ms, 5s), or fallback
// when it is not set.
func (e *Env) Duration(name string, fallback time.Duration, purpose string) time.Duration {
	value, ok := e.lookup(name)
	if !ok {
		return fallback
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		e.faults = append(e.faults, fmt.Errorf("%s must be a positive duration such as 250ms: %s", name, purpose))
		return fallback
	}
	return d
}

// Parse hands a variable that is set to parse, whose error says what is accepted.
func (e *Env) Parse(name, purpose string, parse func(value string) error) {
	value, ok := e.lookup(name)
	if !ok {
		return
	}
	if err := parse(value); err != nil {
		e.faults = append(e.faults, fmt.Errorf("%s %w: %s", name, err, purpose))
	}
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
