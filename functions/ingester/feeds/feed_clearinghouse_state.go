package feeds

import (
	"quotary/shared/gate/channel"
	"quotary/shared/text/jsontext"
)

// newStateFeed publishes the states of accounts on /ws/clearinghouse-state.
func newStateFeed(b base) publisher {
	return newAccountView(b, false, func(k accountKey, body []byte) []byte {
		b := jsontext.AppendString(append(inChannel(channel.AccountState), `{"address":`...), k.address)
		return append(append(append(b, `,"state":`...), body...), `}}`...)
	})
}
