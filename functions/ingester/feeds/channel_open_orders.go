package feeds

import (
	"quotary/shared/gate/channel"
	"quotary/shared/text/jsontext"
)

// newOpenOrders publishes the open orders of accounts.
func newOpenOrders(b base) publisher {
	return newAccountView(b, true, func(k accountKey, body []byte) []byte {
		b := jsontext.AppendString(append(inChannel(channel.OpenOrders), `{"dex":`...), k.dex)
		b = jsontext.AppendString(append(b, `,"user":`...), k.address)
		return append(append(append(b, `,"orders":`...), body...), `}}`...)
	})
}
