package connections

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"quotary/shared/aws/attr"
	"quotary/shared/gate/channel"
)

// Names of the attributes.
const (
	attrPK = "pk"
	attrSK = "sk"

	attrKey         = "key"
	attrDistributor = "dist"
	attrFeed        = "feed"
	attrDex         = "dex"
	attrEndpoint    = "url"
	attrAt          = "at"   // when it was written, ms
	attrSeen        = "seen" // ms
	attrPinged      = "ping" // when the client last asked for a pong, ms
	attrGeneration  = "gen"
	attrClosing     = "closing" // since when the connection is being removed, ms

	attrTime    = "t"  // of the message that wrote the item, ms
	attrWrites  = "n"  // of the item
	attrRequest = "by" // the request of that message
	attrEnded   = "off"

	attrSubscription = "sub" // JSON
	attrReply        = "reply"
	attrCount        = "count"
	attrFrom         = "from"
	attrAddresses    = "addrs"
	attrExpiry       = "exp" // seconds

	attrKeySlot         = "ks" // partition key of the shard
	attrDistributorSlot = "ds"
)

// Keys of the items.
const (
	prefixConnection   = "c#" // of the partition key
	sortConnection     = "c"
	prefixSubscription = "s#" // of the sort key
	prefixGroup        = "g#"
	prefixAnswer       = "r#" // after the connection itself, as all below it
	prefixStat         = "stat#"
	prefixClose        = "close#"
	prefixMemory       = "m#" // of the partition key
	prefixRemoval      = "u#" // of the sort key
	prefixRenewal      = "renew#"
	prefixWait         = "wait#"
)

type item = attr.Item

func key(pk, sk string) item { return item{attrPK: attr.S(pk), attrSK: attr.S(sk)} }

func connectionKey(id string) item { return key(prefixConnection+id, sortConnection) }

func (c *Connection) item() item {
	it := connectionKey(c.ID)
	it[attrKey], it[attrDistributor] = attr.S(c.Key), attr.S(c.Distributor)
	it[attrFeed], it[attrDex], it[attrEndpoint] = attr.S(string(c.Feed)), attr.S(c.Dex), attr.S(c.Endpoint)
	it[attrAt], it[attrSeen] = attr.N(c.At.UnixMilli()), attr.N(c.Seen.UnixMilli())
	it[attrGeneration] = attr.N(c.Generation)
	return it
}

// subscriptionAttribute is the subscription as one text: equal subscriptions have
// equal texts.
func subscriptionAttribute(s *channel.Subscription) types.AttributeValue {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("connections: encode a subscription: %v", err)) // it has texts and numbers only
	}
	return attr.S(string(text))
}

// below is an item that a message leaves below its connection, which no other message
// writes.
func (m *Message) below(prefix string, now time.Time) item {
	it := key(prefixConnection+m.Connection, numbered(prefix, m.At)+"#"+m.ID)
	it[attrTime], it[attrWrites], it[attrAt] = attr.N(m.At.UnixMilli()), attr.N(1), attr.N(now.UnixMilli())
	return it
}

// addressSet is a set of addresses as it is stored: in 20 bytes each, less than half of
// their texts.
func addressSet(addresses []string) types.AttributeValue {
	set := make([][]byte, len(addresses))
	for i, a := range addresses {
		b, err := hex.DecodeString(strings.TrimPrefix(a, "0x"))
		if err != nil {
			panic(fmt.Sprintf("connections: encode an address: %v", err)) // whoever takes it from a client has checked it
		}
		set[i] = b
	}
	return attr.Set(set)
}

func addressesOf(set [][]byte) []string {
	addresses := make([]string, len(set))
	for i, b := range set {
		addresses[i] = "0x" + hex.EncodeToString(b)
	}
	return addresses
}

func (r *Reply) into(it item) {
	if len(r.Frame) > 0 {
		it[attrReply] = attr.S(string(r.Frame))
	}
	if r.Count != "" {
		it[attrCount] = attr.S(string(r.Count))
	}
	if from := r.From.Text(); from != "" {
		it[attrFrom] = attr.S(from)
	}
}

const (
	// pendingKept is how long what is left to the ingester stays without an answer.
	pendingKept = time.Hour
	// endedKept is how long the end of a subscription, or of addresses, is remembered,
	// so that a message from before it changes nothing. A message is carried out, or
	// given up, within a minute.
	endedKept = 10 * time.Minute
)

// expiry is when something has been kept for so long, in the whole seconds that DynamoDB
// takes: up to one later, never earlier.
func expiry(now time.Time, kept time.Duration) types.AttributeValue {
	return attr.N(now.Add(kept + time.Second - 1).Unix())
}

// numbered is a sort key that keeps the order of the times.
func numbered(prefix string, at time.Time) string {
	return fmt.Sprintf("%s%014d", prefix, at.UnixMilli())
}

// image is an item as both the table and its stream show it: strings and
// numbers as text, and the one set.
type image struct {
	text      map[string]string
	addresses []string
}

// imageOf reads an item of the table, or of its stream, whose attributes have types
// of their own.
func imageOf[V any](attributes map[string]V) image {
	im := image{text: make(map[string]string, len(attributes))}
	for name, value := range attributes {
		switch v := any(value).(type) {
		case *types.AttributeValueMemberS:
			im.text[name] = v.Value
		case *types.AttributeValueMemberN:
			im.text[name] = v.Value
		case *types.AttributeValueMemberBS:
			im.addresses = addressesOf(v.Value)
		case *streamtypes.AttributeValueMemberS:
			im.text[name] = v.Value
		case *streamtypes.AttributeValueMemberN:
			im.text[name] = v.Value
		case *streamtypes.AttributeValueMemberBS:
			im.addresses = addressesOf(v.Value)
		}
	}
	return im
}

// id returns the connection that the item belongs to, or "" for any other item.
func (im *image) id() string {
	id, ok := strings.CutPrefix(im.text[attrPK], prefixConnection)
	if !ok {
		return ""
	}
	return id
}

func (im *image) exists() bool  { return len(im.text) > 0 }
func (im *image) sort() string  { return im.text[attrSK] }
func (im *image) ended() bool   { return im.text[attrEnded] != "" }
func (im *image) closing() bool { return im.text[attrClosing] != "" }

func (im *image) is(prefix string) bool { return strings.HasPrefix(im.sort(), prefix) }

func (im *image) number(name string) int64 {
	n, _ := strconv.ParseInt(im.text[name], 10, 64) // the table is ours: what is not a number was never written
	return n
}

func (im *image) time(name string) time.Time { return time.UnixMilli(im.number(name)).UTC() }

func (im *image) connection() Connection {
	return Connection{
		ID: im.id(), Key: im.text[attrKey], Distributor: im.text[attrDistributor],
		Feed: channel.Feed(im.text[attrFeed]), Dex: im.text[attrDex], Endpoint: im.text[attrEndpoint],
		At: im.time(attrAt), Seen: im.time(attrSeen), Generation: im.number(attrGeneration),
	}
}

func (im *image) subscription() (s channel.Subscription) {
	_ = json.Unmarshal([]byte(im.text[attrSubscription]), &s) // the table is ours; other items have none
	return s
}

func (im *image) reply() Reply {
	return Reply{[]byte(im.text[attrReply]), channel.Name(im.text[attrCount]), channel.ResumeOf(im.text[attrFrom])}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
