package connections

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"quotary/shared/attr"
	"quotary/shared/channel"
)

// Names of the attributes.
const (
	attrPK  = "pk"
	attrSK  = "sk"
	attrRev = "rev" // of a connection; below it, the revision that wrote the item

	attrKey         = "key"
	attrDistributor = "dist"
	attrFeed        = "feed"
	attrDex         = "dex"
	attrEndpoint    = "url"
	attrAt          = "at"   // ms
	attrSeen        = "seen" // ms
	attrActive      = "n_"   // and a channel: its subscriptions on the connection

	attrSubscription = "sub" // JSON
	attrReply        = "reply"
	attrAddresses    = "addrs"
	attrExpiry       = "exp" // seconds

	attrConns = "conns"
	attrSubs  = "subs"
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

	prefixKey         = "k#" // of the partition key
	sortKey           = "k"
	prefixDistributor = "d#"
	sortDistributor   = "d"
)

type item = attr.Item

func key(pk, sk string) item { return item{attrPK: attr.S(pk), attrSK: attr.S(sk)} }

func (c *Connection) item() item {
	it := key(prefixConnection+c.ID, sortConnection)
	it[attrKey], it[attrDistributor] = attr.S(c.Key), attr.S(c.Distributor)
	it[attrFeed], it[attrDex], it[attrEndpoint] = attr.S(string(c.Feed)), attr.S(c.Dex), attr.S(c.Endpoint)
	it[attrAt], it[attrSeen], it[attrRev] = attr.N(c.At.UnixMilli()), attr.N(c.Seen.UnixMilli()), attr.N(0)
	return it
}

func (s *Subscribed) item(rev int64) item {
	it := key(prefixConnection+s.Connection, prefixSubscription+s.Key())
	it[attrSubscription] = subscriptionAttribute(&s.Subscription)
	it[attrReply], it[attrAt], it[attrRev] = attr.S(string(s.Reply)), attr.N(s.At.UnixMilli()), attr.N(rev)
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

func groupItem(id, sk string, addresses []string, rev int64) item {
	it := key(prefixConnection+id, sk)
	it[attrAddresses], it[attrRev] = attr.Set(addresses), attr.N(rev)
	return it
}

func answerItem(id string, reply []byte, now time.Time, rev int64) item {
	it := key(prefixConnection+id, numbered(prefixAnswer, rev))
	it[attrReply], it[attrAt] = attr.S(string(reply)), attr.N(now.UnixMilli())
	it[attrRev], it[attrExpiry] = attr.N(rev), attr.N(now.Add(pendingKept).Unix())
	return it
}

// pendingItem asks the ingester for what its sort key says.
func pendingItem(id, sk string, now time.Time, rev int64) item {
	it := key(prefixConnection+id, sk)
	it[attrRev], it[attrExpiry] = attr.N(rev), attr.N(now.Add(pendingKept).Unix())
	return it
}

// pendingKept is how long what is left to the ingester stays without an answer.
const pendingKept = time.Hour

// numbered is a sort key that keeps the order of the revisions.
func numbered(prefix string, rev int64) string { return fmt.Sprintf("%s%012d", prefix, rev) }

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
		case *types.AttributeValueMemberSS:
			im.addresses = v.Value
		case *streamtypes.AttributeValueMemberS:
			im.text[name] = v.Value
		case *streamtypes.AttributeValueMemberN:
			im.text[name] = v.Value
		case *streamtypes.AttributeValueMemberSS:
			im.addresses = v.Value
		}
	}
	return im
}

// id returns the connection that the item belongs to, or "" for a counter.
func (im *image) id() string {
	id, ok := strings.CutPrefix(im.text[attrPK], prefixConnection)
	if !ok {
		return ""
	}
	return id
}

func (im *image) sort() string { return im.text[attrSK] }
func (im *image) rev() int64   { return im.number(attrRev) }

func (im *image) number(name string) int64 {
	n, _ := strconv.ParseInt(im.text[name], 10, 64) // the table is ours: what is not a number was never written
	return n
}

func (im *image) time(name string) time.Time { return time.UnixMilli(im.number(name)).UTC() }

func (im *image) connection() Connection {
	return Connection{
		ID: im.id(), Key: im.text[attrKey], Distributor: im.text[attrDistributor],
		Feed: channel.Feed(im.text[attrFeed]), Dex: im.text[attrDex], Endpoint: im.text[attrEndpoint],
		At: im.time(attrAt), Seen: im.time(attrSeen),
	}
}

func (im *image) subscription() (s channel.Subscription) {
	_ = json.Unmarshal([]byte(im.text[attrSubscription]), &s) // the table is ours; other items have none
	return s
}

func (im *image) subscribed() Subscribed {
	return Subscribed{
		Connection: im.id(), Subscription: im.subscription(),
		Reply: im.reply(), At: im.time(attrAt),
	}
}

func (im *image) reply() []byte { return []byte(im.text[attrReply]) }
