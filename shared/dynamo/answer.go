package dynamo

import (
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/jsonscan"
)

// The read functions report false for a text that they do not understand, as for
// one with an attribute of a kind that no item of ours has.

// readAttributes reads the answer to a write.
func readAttributes(text string) (attributes map[string]types.AttributeValue, ok bool) {
	p := scanner{jsonscan.New(text)}
	ok = p.Object(func(name string) (ok bool) {
		if name != "Attributes" {
			return p.Skip()
		}
		attributes, ok = p.item()
		return ok
	})
	return attributes, ok && p.End()
}

// readBatch reads the answer to a BatchGetItem, if it is complete.
func readBatch(text string) (responses map[string][]map[string]types.AttributeValue, ok bool) {
	p := scanner{jsonscan.New(text)}
	ok = p.Object(func(name string) bool {
		switch name {
		case "Responses":
			responses = make(map[string][]map[string]types.AttributeValue, 1)
			return p.Object(func(table string) bool {
				var items []map[string]types.AttributeValue
				ok := p.Array(func() bool {
					item, ok := p.item()
					items = append(items, item)
					return ok
				})
				responses[table] = items
				return ok
			})
		case "UnprocessedKeys":
			return p.Literal("null") || p.Take('{') && p.Take('}')
		}
		return p.Skip()
	})
	return responses, ok && p.End()
}

// readFault reads an error.
func readFault(text string) (kind, message string, item map[string]types.AttributeValue, ok bool) {
	p := scanner{jsonscan.New(text)}
	ok = p.Object(func(name string) (ok bool) {
		switch {
		case name == "__type":
			kind, ok = p.Text()
		case (name == "message" || name == "Message") && p.Peek() == '"':
			message, ok = p.Text()
		case name == "Item" && p.Peek() == '{':
			item, ok = p.item()
		default:
			return p.Skip()
		}
		return ok
	})
	return kind, message, item, ok && p.End()
}

type scanner struct{ jsonscan.Scanner }

// item reads {"name":{"S":"text"},...}.
func (p *scanner) item() (map[string]types.AttributeValue, bool) {
	item := make(map[string]types.AttributeValue, 8)
	return item, p.Object(func(name string) (ok bool) {
		item[name], ok = p.value()
		return ok
	})
}

// value reads {"S":"text"} and its sisters.
func (p *scanner) value() (value types.AttributeValue, ok bool) {
	known := p.Object(func(kind string) bool {
		if value != nil {
			return false
		}
		value, ok = p.kind(kind)
		return ok
	})
	return value, known && value != nil
}

func (p *scanner) kind(kind string) (types.AttributeValue, bool) {
	switch kind {
	case "S":
		text, ok := p.Text()
		return &types.AttributeValueMemberS{Value: text}, ok
	case "N":
		text, ok := p.Text()
		return &types.AttributeValueMemberN{Value: text}, ok
	case "B":
		text, ok := p.Text()
		bytes, err := base64.StdEncoding.DecodeString(text)
		return &types.AttributeValueMemberB{Value: bytes}, ok && err == nil
	case "BOOL":
		flag := p.Literal("true")
		return &types.AttributeValueMemberBOOL{Value: flag}, flag || p.Literal("false")
	case "NULL":
		return &types.AttributeValueMemberNULL{Value: true}, p.Literal("true")
	case "M":
		item, ok := p.item()
		return &types.AttributeValueMemberM{Value: item}, ok
	case "L":
		list := []types.AttributeValue{}
		ok := p.Array(func() bool {
			entry, ok := p.value()
			list = append(list, entry)
			return ok
		})
		return &types.AttributeValueMemberL{Value: list}, ok
	case "SS":
		texts, ok := p.Texts()
		return &types.AttributeValueMemberSS{Value: texts}, ok
	}
	return nil, false
}
