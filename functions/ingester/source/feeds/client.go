package feeds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/upstream"
)

// Bounds of one answer.
const (
	maxBody      = 5 << 20 // bytes, unpacked
	maxHeader    = 64 << 10
	maxRedirects = 5
	deadline     = 20 * time.Second
)

// longestPause is the longest that a host is left alone, whatever it asks for.
const longestPause = 24 * time.Hour

// Why an answer is of no use.
var (
	errRedirects = errors.New("more than 5 redirects")
	errScheme    = errors.New("only http and https are asked")
	errTooLarge  = errors.New("more than 5 MB")
	errElsewhere = errors.New("where it redirects to cannot be reached")
)

// Client asks for feeds. It is shared by all that are followed, so that hosts are
// asked one question at a time. Use [NewClient].
type Client struct {
	hosts    hosts
	deadline time.Duration // of one answer
	parsing  sync.Mutex    // held while an answer is parsed, which takes memory: one at a time
}

// NewClient returns a client that pauses between a minute and an hour for a host that
// fails.
func NewClient() *Client {
	return &Client{hosts: hosts{pauses: backoff.Backoff{Min: time.Minute, Max: time.Hour}}, deadline: deadline}
}

// Validators are what a server gave with an answer to recognise it by.
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

// answer is what a server said.
type answer struct {
	unchanged   bool // since the validators
	validators  Validators
	body        []byte
	contentType string
	url         *url.URL // behind redirects
}

// refusal is a status other than 200 and 304.
type refusal struct {
	status     int
	retryAfter time.Duration // 0 for none
}

// Error implements error.
func (r *refusal) Error() string { return "status " + strconv.Itoa(r.status) }

// passing reports whether the host may answer better later, for any feed of it.
func (r *refusal) passing() bool { return r.status == http.StatusTooManyRequests || r.status >= 500 }

// get asks for a feed in its host's turn. The pause is for how long that host is left
// alone now.
func (c *Client) get(ctx context.Context, web *http.Client, feed *url.URL, have Validators) (a answer, pause time.Duration, err error) {
	turn, err := c.hosts.acquire(ctx, feed.Host)
	if err != nil {
		return answer{}, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	a, err = ask(ctx, web, feed, have)
	var refused *refusal
	known := errors.As(err, &refused)
	failed := err != nil && !errors.Is(err, errTooLarge) && (!known || refused.passing())
	var after time.Duration
	if known {
		after = refused.retryAfter
	}
	return a, c.hosts.release(turn, failed, after), err
}

// parse reads an answer in its turn.
func (c *Client) parse(f *Format, a *answer) (Document, error) {
	c.parsing.Lock()
	defer c.parsing.Unlock()
	return f.parse(a.body, a.contentType, a.url)
}

// transport returns an HTTP client for one feed, which follows redirects.
func transport(feed *url.URL) *http.Client {
	how := upstream.Transport(feed.String())
	how.DisableKeepAlives, how.MaxResponseHeaderBytes = true, maxHeader
	return &http.Client{
		Transport: upstream.Inflate(how),
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errRedirects
			}
			req.Header.Del("Referer") // an address may hold a token, which is for its own host
			return checkScheme(req.URL)
		},
	}
}

// keyed adds headers to questions to a feed's own host, over its own scheme.
type keyed struct {
	http.RoundTripper
	feed   *url.URL
	header http.Header
}

// RoundTrip implements [http.RoundTripper].
func (k keyed) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == k.feed.Scheme && req.URL.Host == k.feed.Host {
		req = req.Clone(req.Context())
		maps.Copy(req.Header, k.header)
	}
	return k.RoundTripper.RoundTrip(req)
}

func checkScheme(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errScheme
	}
	return nil
}

func ask(ctx context.Context, web *http.Client, feed *url.URL, have Validators) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, feed.String(), nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("User-Agent", "Quotary (feed reader)")
	req.Header.Set("Accept", "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, application/json;q=0.9, */*;q=0.5")
	for name, value := range map[string]string{"If-None-Match": have.ETag, "If-Modified-Since": have.LastModified} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := web.Do(req)
	if err != nil {
		return answer{}, unquoted(err, feed)
	}
	defer res.Body.Close()
	a := answer{url: res.Request.URL, contentType: res.Header.Get("Content-Type"), validators: Validators{
		ETag: bounded(res.Header.Get("ETag")), LastModified: bounded(res.Header.Get("Last-Modified")),
	}}
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		a.unchanged = true
		return a, nil
	default:
		return answer{}, &refusal{res.StatusCode, retryAfter(res.Header.Get("Retry-After"), time.Now())}
	}
	a.body, err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", upstream.Unquoted(err))
	}
	if len(a.body) > maxBody {
		return answer{}, errTooLarge
	}
	return a, nil
}

// unquoted is an error of a question as it may be logged. Behind a redirect it says nothing of where that
// leads, whose name is a part of the answer: those of the network have it.
func unquoted(err error, feed *url.URL) error {
	known := []error{upstream.ErrPrivate, errRedirects, errScheme, context.Canceled, context.DeadlineExceeded}
	var of *url.Error
	if errors.As(err, &of) {
		if at, wrong := url.Parse(of.URL); wrong == nil && at.Host == feed.Host {
			return upstream.Unquoted(err, known...)
		}
	}
	for _, one := range known {
		if errors.Is(err, one) {
			return one
		}
	}
	return errElsewhere
}

// bounded is a validator that is worth keeping.
func bounded(validator string) string {
	if len(validator) > 256 || strings.ContainsFunc(validator, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return validator
}

// retryAfter reads seconds or a date; 0 is none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
