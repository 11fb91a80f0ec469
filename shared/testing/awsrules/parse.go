package awsrules

import (
	"encoding/json"
	"fmt"
)

// readTarget is the partition that a GetItem or a Query reads.
func (c *call) readTarget() (string, error) {
	var in struct {
		TableName, IndexName      string
		Key                       attributes
		KeyConditionExpression    string
		ExpressionAttributeValues attributes
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return "", err
	}
	t := target{table: in.TableName, key: in.Key}
	if c.operation == "GetItem" {
		return t.partition(), nil
	}
	// The partition key is what the condition compares first.
	name := firstValue(in.KeyConditionExpression)
	t.key = attributes{"pk": in.ExpressionAttributeValues[name]}
	t.table += in.IndexName
	return t.partition(), nil
}

// firstValue is the first name of a value in an expression.
func firstValue(expression string) string {
	for i := range len(expression) {
		if expression[i] != ':' {
			continue
		}
		end := i + 1
		for end < len(expression) && (expression[end] == '_' || expression[end] >= '0' && expression[end] <= '9' ||
			expression[end]|0x20 >= 'a' && expression[end]|0x20 <= 'z') {
			end++
		}
		return expression[i:end]
	}
	return ""
}

// transactTargets are the items of a transaction.
func (c *call) transactTargets() ([]target, error) {
	type part struct {
		TableName string
		Key, Item attributes
	}
	var in struct{ TransactItems []map[string]part }
	if err := json.Unmarshal(c.body, &in); err != nil {
		return nil, err
	}
	items := make([]target, 0, len(in.TransactItems))
	for _, one := range in.TransactItems {
		for kind, p := range one {
			it := target{table: p.TableName, key: p.Key, put: kind == "Put"}
			if it.put {
				it.key = p.Item
			}
			items = append(items, it)
		}
	}
	return items, nil
}

// batch is a BatchWriteItem or BatchGetItem.
type batch struct {
	members map[string]json.RawMessage            // of the request, but its items
	tables  map[string]map[string]json.RawMessage // of a BatchGetItem: what is beside the keys
	reading bool
	items   []batchItem
}

type batchItem struct {
	target
	raw json.RawMessage // the key, or the request of the write
}

func (c *call) parseBatch() (*batch, error) {
	b := &batch{tables: map[string]map[string]json.RawMessage{}, reading: c.operation == "BatchGetItem"}
	if err := json.Unmarshal(c.body, &b.members); err != nil {
		return nil, err
	}
	var requests map[string]json.RawMessage
	if err := json.Unmarshal(b.members["RequestItems"], &requests); err != nil {
		return nil, err
	}
	for table, raw := range requests {
		list := raw
		if b.reading {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(raw, &members); err != nil {
				return nil, err
			}
			list = members["Keys"]
			delete(members, "Keys")
			b.tables[table] = members
		}
		var each []json.RawMessage
		if err := json.Unmarshal(list, &each); err != nil {
			return nil, err
		}
		for _, one := range each {
			it, err := b.item(table, one)
			if err != nil {
				return nil, err
			}
			b.items = append(b.items, it)
		}
	}
	return b, nil
}

func (b *batch) item(table string, raw json.RawMessage) (batchItem, error) {
	it := batchItem{target{table: table}, raw}
	if b.reading {
		return it, json.Unmarshal(raw, &it.key)
	}
	var w struct {
		PutRequest    *struct{ Item attributes }
		DeleteRequest *struct{ Key attributes }
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return it, err
	}
	switch {
	case w.PutRequest != nil:
		it.key, it.put = w.PutRequest.Item, true
	case w.DeleteRequest != nil:
		it.key = w.DeleteRequest.Key
	default:
		return it, fmt.Errorf("an unknown write in a batch: %s", raw)
	}
	return it, nil
}

// request is the request for some of the items.
func (b *batch) request(items []batchItem) ([]byte, error) {
	tables, err := b.byTable(items)
	if err != nil {
		return nil, err
	}
	b.members["RequestItems"] = tables
	return json.Marshal(b.members)
}

// byTable is what a request names its items by, and an answer those unprocessed.
func (b *batch) byTable(items []batchItem) (json.RawMessage, error) {
	lists := map[string][]json.RawMessage{}
	for _, it := range items {
		lists[it.table] = append(lists[it.table], it.raw)
	}
	tables := map[string]any{}
	for table, list := range lists {
		if !b.reading {
			tables[table] = list
			continue
		}
		members := map[string]any{"Keys": list}
		for name, value := range b.tables[table] {
			members[name] = value
		}
		tables[table] = members
	}
	return json.Marshal(tables)
}

// withUnprocessed adds items to the engine's answer that were not carried out.
func (b *batch) withUnprocessed(body []byte, items []batchItem) ([]byte, error) {
	var out map[string]json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, err
	}
	tables, err := b.byTable(items)
	if err != nil {
		return nil, err
	}
	member := "UnprocessedItems"
	if b.reading {
		member = "UnprocessedKeys"
	}
	out[member] = tables // the engine leaves nothing unprocessed
	return json.Marshal(out)
}
