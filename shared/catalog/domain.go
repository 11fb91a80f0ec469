package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Domain is a domain of the ingester, with what a deployment must know of it: each is
// declared in a file of its own, domain_<name>.go. From that follow the environment of
// the deployed ingester, the settings that an operator has of it, and its alarms.
type Domain struct {
	Name     string
	Archives bool // has logs whose rows can have a retention
	Settings []*Setting
}

// Setting is an environment variable of the ingester that belongs to one domain.
type Setting struct {
	Name    string                   // of the variable
	Purpose string                   // what it is for, as messages say it
	Default string                   // what the program does with where it is not set; "" for nothing
	Check   func(value string) error // says what is accepted; nil accepts any text

	// Deploy is the setting's name among those of a deployment, in infra/cdk.json; ""
	// for one that only those set who run the program themselves. Deployed is what it is
	// there where its operator chooses nothing; "off" leaves the variable out. It stands
	// in templates and consoles: what is secret has no such name.
	Deploy, Deployed string
	// Free is what it is where all sources are followed that are public, take no money and want no key: see
	// [SourcesFree]. "" stays as it is.
	Free string

	// Live says that what it names emits all the time: while it is set, alarms watch
	// for silence and lag of the domain.
	Live bool
}

// SourcesFree is the choice by which a deployment, or a local stack, follows all sources that take no money and
// no key; those that are chosen one by one stay as they are.
const SourcesFree = "free"

// Domains are the domains of the ingester, in the order of their names.
var Domains []*Domain

func domain(d Domain) *Domain {
	Domains = append(Domains, &d)
	slices.SortFunc(Domains, func(a, b *Domain) int { return cmp.Compare(a.Name, b.Name) })
	return &d
}

func (d *Domain) setting(s Setting) *Setting {
	d.Settings = append(d.Settings, &s)
	return &s
}

// wholeNumber accepts whole numbers of at least least.
func wholeNumber(least int) func(string) error {
	return func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < least {
			return fmt.Errorf("must be a whole number of at least %d, not %q", least, value)
		}
		return nil
	}
}

// LeastRelayWeight is the least weight a minute, dealt out in sevenths, by which the dearest
// question is ever granted.
const LeastRelayWeight = 7 * weighsRole

// relayWeight accepts 0, for nothing, and what grants every question.
func relayWeight(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n != 0 && n < LeastRelayWeight {
		return fmt.Errorf("must be 0, or a whole number of at least %d, not %q", LeastRelayWeight, value)
	}
	return nil
}

// span accepts positive durations as Go writes them.
func span(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d <= 0 {
		return fmt.Errorf("must be a positive duration such as 250ms, not %q", value)
	}
	return nil
}

// webAddress accepts addresses of http and https. It does not repeat the value, which may
// hold a token.
func webAddress(value string) error {
	if u, err := url.Parse(value); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("must be an address of http or https")
	}
	return nil
}

// matching accepts what fits a pattern, which what describes.
func matching(pattern, what string) func(string) error {
	accepted := regexp.MustCompile("^(?:" + pattern + ")$")
	return func(value string) error {
		if !accepted.MatchString(value) {
			return fmt.Errorf("must be %s, not %q", what, value)
		}
		return nil
	}
}

// objectList accepts JSON lists of objects, of which what names the members. It does not
// repeat the value: an address in it may hold a token.
func objectList(what string) func(string) error {
	return func(value string) error {
		var list []map[string]any
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			return fmt.Errorf("must be a JSON list of %s", what)
		}
		return nil
	}
}
