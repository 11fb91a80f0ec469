package feeds

import (
	"net/url"
	"slices"
	"strings"
)

// bytesOfWork is how many bytes of an address that is made cost as much as a token that is read.
const bytesOfWork = 16

// address is [absolute] for one of the many addresses of an item. What it costs follows from the
// base too, also where nothing comes of it; none is resolved in a document that has cost too much.
func (w *work) address(reference string, base *url.URL) string {
	if *w > maxWork {
		return ""
	}
	if base != nil {
		*w += work((len(reference) + len(base.Path)) / bytesOfWork)
	}
	return absolute(reference, base)
}

// maxAddress is the longest address that is kept.
const maxAddress = 2048

// absolute resolves an address of the web against a base, which may be nil; "" is
// what cannot be resolved, or is of another scheme.
func absolute(reference string, base *url.URL) string {
	u, err := url.Parse(strings.TrimSpace(reference))
	if err != nil || reference == "" {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if checkScheme(u) != nil || u.User != nil {
		return ""
	}
	if text := u.String(); len(text) <= maxAddress {
		return text
	}
	return ""
}

// tracking are the parameters of addresses that say where a reader came from, beside
// those that begin with utm_.
var tracking = []string{"fbclid", "gclid", "dclid", "msclkid", "yclid", "twclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "ref", "ref_src", "source", "cmpid", "spm"}

// page is an address without tracking parameters and fragment: the same for all ways to the
// same page.
func page(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return untracked(address)
}

// untracked is an address without tracking parameters.
func untracked(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.RawQuery != "" {
		kept := strings.Split(u.RawQuery, "&")
		kept = slices.DeleteFunc(kept, func(pair string) bool {
			name, _, _ := strings.Cut(strings.ToLower(pair), "=")
			return name == "" || strings.HasPrefix(name, "utm_") || slices.Contains(tracking, name)
		})
		u.RawQuery = strings.Join(kept, "&")
	}
	return u.String()
}
