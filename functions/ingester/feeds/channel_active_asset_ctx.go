package feeds

import (
	"encoding/json"
	"sync"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
	"quotary/shared/venue/wire"
)

// activeSpotAssetCtx is what the venue calls the frames of a spot coin on the same channel.
const activeSpotAssetCtx channel.Name = "activeSpotAssetCtx"

// assetContexts publishes the figures of coins, as the venue wrote them.
type assetContexts struct {
	base
	coinTopic
	mu   sync.Mutex
	last map[string]assetContext // by coin
}

type assetContext struct {
	spot bool
	raw  json.RawMessage
}

func newAssetContexts(b base) publisher {
	return &assetContexts{base: b, last: map[string]assetContext{}}
}

func (ac *assetContexts) topic(coin string) hub.Topic {
	return hub.Topic{Guard: &ac.mu, Snapshot: func() [][]byte {
		c, known := ac.last[coin]
		if !known {
			return nil
		}
		return hub.Single(c.frame(coin))
	}}
}

func (ac *assetContexts) consume(e *market.Events) {
	for i := range e.Contexts {
		of := &e.Contexts[i]
		raws, err := wire.RawContexts(of)
		if err != nil {
			ac.Logger.Warn("figures of coins cannot be shown", "channel", ac.name, "dex", of.Dex, "error", err.Error())
			continue
		}
		ac.publish(of, raws)
	}
}

func (ac *assetContexts) publish(of *market.Contexts, raws map[string]json.RawMessage) {
	ac.mu.Lock()
	defer ac.mu.Unlock()
	for i := range of.Coins { // which have a price
		coin := of.Coins[i].Coin
		c := assetContext{of.Spot, raws[coin]}
		if c.raw == nil {
			continue
		}
		ac.last[coin] = c
		if topic := ac.topicName(coin); ac.hub.Watched(topic) {
			ac.hub.Publish(topic, c.frame(coin), hub.State)
		}
	}
}

func (c *assetContext) frame(coin string) []byte {
	name := channel.ActiveAssetCtx
	if c.spot {
		name = activeSpotAssetCtx
	}
	b := jsontext.AppendString(append(inChannel(name), `{"coin":`...), coin)
	return append(append(append(b, `,"ctx":`...), c.raw...), `}}`...)
}
