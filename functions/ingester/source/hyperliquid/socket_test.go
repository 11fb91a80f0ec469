package hyperliquid

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"quotary/shared/testing/must"
	"quotary/shared/upstream"
)

// A frame is bounded in bytes and, where it is so large that it costs something to decode,
// in rows.
func TestFramesAreBounded(t *testing.T) {
	t.Parallel()
	padded := func(rows, bytes int) string {
		text := "[" + strings.Repeat("{},", rows-1) + "{}]"
		return text + strings.Repeat(" ", bytes-len(text))
	}
	for name, c := range map[string]struct {
		frame    string
		accepted bool
		rows     bool // why it is not
	}{
		"many small rows":             {padded(6000, 64<<10), true, false},
		"as many rows as may be":      {padded(5000, 4<<20), true, false},
		"a row too many":              {padded(5001, 64<<10+1), false, true},
		"a large frame of one row":    {padded(1, 4<<20), true, false},
		"a frame that is a byte more": {padded(1, 4<<20+1), false, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer conn.CloseNow()
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(c.frame))
			_, _, _ = conn.Read(r.Context()) // until the other end closes
		}))
		conn := must.Get(dial(t.Context(), server.URL))(t)
		got, err := receive(t.Context(), conn)
		if (err == nil) != c.accepted || errors.Is(err, upstream.ErrBounds) != c.rows || c.accepted && string(got) != c.frame {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		_ = conn.CloseNow()
		server.Close()
	}
}
