package venue

import (
	"bytes"
	"fmt"
	"strings"
)

// elsewhere are other venues, of our own making.
var elsewhere = []string{"Simulated Perps", "Simulated Swap", "Simulated Options"}

// OtherVenues is a file, as an operator loads it, of the other venues on which the traders trade: it is the
// same for the same seed. It says nothing of one in five, and of another one that it trades on none.
func (v *Venue) OtherVenues() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	var lines bytes.Buffer
	for i := range v.eng.prof {
		var names []string
		for n := range i%5 - 1 {
			names = append(names, `"`+elsewhere[(i+n)%len(elsewhere)]+`"`)
		}
		if i%5 > 0 {
			fmt.Fprintf(&lines, `{"address":%q,"venues":[%s]}`+"\n", v.eng.prof[i].Addr, strings.Join(names, ","))
		}
	}
	return lines.Bytes()
}
