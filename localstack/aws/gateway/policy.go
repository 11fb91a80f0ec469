package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
)

// policy is the part of an IAM policy document that an authorizer may return.
type policy struct {
	Statement statements
}

type statement struct {
	Effect   string
	Action   oneOrMore
	Resource oneOrMore

	// What an authorizer's policy can hold on AWS and is not evaluated here. It
	// must not pass for something weaker, so it makes the policy invalid.
	NotAction, NotResource, Condition, Principal, NotPrincipal json.RawMessage
}

// decide says whether the policy allows an action on a resource. What no
// statement allows is denied, and one Deny outweighs every Allow.
func (p policy) decide(action, resource string) bool {
	allowed := false
	for _, s := range p.Statement {
		if !s.covers(action, resource) {
			continue
		}
		if s.Effect == "Deny" {
			return false
		}
		allowed = true
	}
	return allowed
}

func (s statement) covers(action, resource string) bool {
	for _, a := range s.Action {
		// Actions are compared without regard to case, resources with.
		if !glob(strings.ToLower(a), strings.ToLower(action)) {
			continue
		}
		for _, r := range s.Resource {
			if glob(r, resource) {
				return true
			}
		}
	}
	return false
}

// validate refuses what decide would misread.
func (p policy) validate() error {
	if len(p.Statement) == 0 {
		return fmt.Errorf("the policy has no statement")
	}
	for i, s := range p.Statement {
		switch {
		case s.Effect != "Allow" && s.Effect != "Deny":
			return fmt.Errorf("statement %d: Effect %q: want Allow or Deny", i, s.Effect)
		case len(s.Action) == 0 || len(s.Resource) == 0:
			return fmt.Errorf("statement %d: want Action and Resource", i)
		case s.NotAction != nil || s.NotResource != nil || s.Condition != nil || s.Principal != nil || s.NotPrincipal != nil:
			return fmt.Errorf("statement %d: only Effect, Action and Resource are evaluated", i)
		}
	}
	return nil
}

// glob matches with * for any run of characters, slashes too, and ? for one
// character. It needs time in proportion to the product of the two lengths at
// worst.
func glob(pattern, s string) bool {
	p, i := 0, 0
	star, retry := -1, 0 // the last * and where the text it stands for may end
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p, i = p+1, i+1
		case star >= 0:
			retry++
			p, i = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// statements is a list, or one alone.
type statements []statement

func (s *statements) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]statement)(s))
	}
	*s = make(statements, 1)
	return json.Unmarshal(data, &(*s)[0])
}

// oneOrMore is a list of strings, or one alone.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(o))
	}
	*o = make(oneOrMore, 1)
	return json.Unmarshal(data, &(*o)[0])
}
