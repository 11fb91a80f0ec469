package keys

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// projection is the part of items that a query reads.
type projection struct {
	expression string
	names      map[string]string
}

// keys returns a request of the projection, without keys.
func (p projection) keys() types.KeysAndAttributes {
	if p.expression == "" {
		return types.KeysAndAttributes{}
	}
	return types.KeysAndAttributes{ProjectionExpression: &p.expression, ExpressionAttributeNames: p.names}
}

// only returns the projection of these attributes. Every name is escaped, as
// many ordinary words are reserved.
func only(names ...string) projection {
	p := projection{names: make(map[string]string, len(names))}
	for i, name := range names {
		if i > 0 {
			p.expression += ", "
		}
		p.expression += "#" + name
		p.names["#"+name] = name
	}
	return p
}

// change is an update expression in the making.
type change struct {
	set, remove []string
	condition   []string
	names       map[string]string
	values      item
}

// Set gives the attribute a value; nil removes it.
func (c *change) Set(name string, value types.AttributeValue) {
	if value == nil {
		c.remove = append(c.remove, c.name(name))
		return
	}
	c.set = append(c.set, c.name(name)+" = "+c.value(name, value))
}

// SetAll gives attributes their values; nil removes one.
func (c *change) SetAll(attributes item) {
	for name, value := range attributes {
		c.Set(name, value)
	}
}

// Add adds to the number of the attribute.
func (c *change) Add(name string, n int64) {
	c.set = append(c.set, c.name(name)+" = "+c.name(name)+" + "+c.value(name+"_add", attr.N(n)))
}

// Count adds one to the number of the attribute, which is 0 where it is not there.
func (c *change) Count(name string) {
	c.set = append(c.set, c.name(name)+" = if_not_exists("+c.name(name)+", "+c.value(name+"_none", attr.N(0))+") + "+c.value(name+"_one", attr.N(1)))
}

// If adds a condition that the attribute has the value.
func (c *change) If(name string, value types.AttributeValue) {
	c.condition = append(c.condition, c.name(name)+" = "+c.value(name+"_seen", value))
}

// IfText adds a condition as it stands; the attributes in it are given by name.
func (c *change) IfText(condition string, names ...string) {
	for _, n := range names {
		c.name(n)
	}
	c.condition = append(c.condition, condition)
}

func (c *change) name(name string) string {
	if c.names == nil {
		c.names = map[string]string{}
	}
	c.names["#"+name] = name
	return "#" + name
}

func (c *change) value(name string, value types.AttributeValue) string {
	if c.values == nil {
		c.values = item{}
	}
	c.values[":"+name] = value
	return ":" + name
}

// update returns the change as a write of the item, which must exist.
func (c *change) update(table string, key item) *types.Update {
	c.IfText("attribute_exists(#pk)", "pk")
	var parts []string
	if len(c.set) > 0 {
		parts = append(parts, "SET "+strings.Join(c.set, ", "))
	}
	if len(c.remove) > 0 {
		parts = append(parts, "REMOVE "+strings.Join(c.remove, ", "))
	}
	return &types.Update{
		TableName: &table, Key: key,
		UpdateExpression:          aws.String(strings.Join(parts, " ")),
		ConditionExpression:       aws.String(strings.Join(c.condition, " AND ")),
		ExpressionAttributeNames:  c.names,
		ExpressionAttributeValues: c.values,
	}
}
