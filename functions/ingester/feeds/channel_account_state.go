package feeds

import (
	"quotary/shared/gate/channel"
	"quotary/shared/text/jsontext"
)

// newAccountState publishes the states of accounts on the channel clearinghouseState.
func newAccountState(b base) publisher {
	return newAccountView(b, false, func(k accountKey, body []byte) []byte {
		b := jsontext.AppendString(append(inChannel(channel.AccountState), `{"dex":`...), k.dex)
		b = jsontext.AppendString(append(b, `,"user":`...), k.address)
		return append(append(append(b, `,"clearinghouseState":`...), body...), `}}`...)
	})
}
