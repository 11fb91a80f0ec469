package awsrules

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// call is one request on its way.
type call struct {
	*network
	http      *http.Request
	operation string
	body      []byte
	answer    answer
}

// Names of what AWS refuses with.
const (
	limited       = "LimitExceededException"
	exceeded      = "ProvisionedThroughputExceededException"
	conflict      = "TransactionConflictException"
	cancelled     = "TransactionCanceledException"
	failed        = "ConditionalCheckFailedException"
	reasonNone    = "None"
	reasonThrown  = "TransactionConflict"
	reasonLimited = "ProvisionedThroughputExceeded"
)

// met counts what the call met, of all clients and of its own. The caller holds the mutex.
func (c *call) met(count func(*Counts)) {
	count(&c.counts)
	if c.own != nil {
		count(c.own)
	}
}

// refuse answers with an error of the given name.
func (c *call) refuse(name string, members map[string]any) {
	body := map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + name, "message": "by the rules of AWS"}
	for k, v := range members {
		body[k] = v
	}
	text, err := json.Marshal(body)
	c.answer = answer{status: http.StatusBadRequest, header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, body: text, err: err}
}

func (c *call) serve() error {
	var err error
	switch c.operation {
	case "TransactWriteItems", "TransactGetItems":
		err = c.transact()
	case "PutItem", "UpdateItem", "DeleteItem":
		err = c.write()
	case "GetItem", "Query":
		err = c.read()
	case "BatchWriteItem", "BatchGetItem":
		err = c.batch()
	case "GetRecords", "GetShardIterator":
		err = c.stream()
	default:
		err = c.other()
	}
	if err != nil {
		return err
	}
	return c.answer.err
}

// pause passes time, in the caller's bubble.
func (c *call) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.http.Context().Done():
		return context.Cause(c.http.Context())
	case <-timer.C:
		return nil
	}
}

// metered has the engine carry out the call and report the units.
func (c *call) metered() answer {
	var body map[string]json.RawMessage
	if json.Unmarshal(c.body, &body) != nil {
		return c.ask(c.body)
	}
	switch c.operation {
	case "Scan", "TransactWriteItems", "TransactGetItems", "PutItem", "UpdateItem", "DeleteItem", "GetItem", "Query", "BatchWriteItem", "BatchGetItem":
		body["ReturnConsumedCapacity"] = json.RawMessage(`"TOTAL"`)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return answer{err: err}
	}
	return c.ask(text)
}

// consumed is the units that the engine reports of what it has carried out.
func (c *call) consumed() (units float64) {
	if c.answer.err != nil || c.answer.status != http.StatusOK {
		return 0
	}
	type capacity struct{ CapacityUnits float64 }
	var one struct{ ConsumedCapacity capacity }
	var many struct{ ConsumedCapacity []capacity }
	if json.Unmarshal(c.answer.body, &one) == nil {
		return one.ConsumedCapacity.CapacityUnits
	}
	if json.Unmarshal(c.answer.body, &many) == nil {
		for _, m := range many.ConsumedCapacity {
			units += m.CapacityUnits
		}
	}
	return units
}

// errorName is the name of the engine's error, "" where it carried the call out.
func (a *answer) errorName() string {
	if a.err != nil || a.status == http.StatusOK {
		return ""
	}
	var body struct {
		Type string `json:"__type"`
	}
	_ = json.Unmarshal(a.body, &body) // another body names none
	for i := len(body.Type) - 1; i >= 0; i-- {
		if body.Type[i] == '#' {
			return body.Type[i+1:]
		}
	}
	return body.Type
}

// other carries out what no rule but the latency is about.
func (c *call) other() error {
	if err := c.pause(c.Latency); err != nil {
		return err
	}
	c.answer = c.metered()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Reads += c.consumed() // of a Scan; all else reports none
	return nil
}

// write carries out a single write.
func (c *call) write() error {
	var in struct {
		TableName string
		Key, Item attributes
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return err
	}
	of := in.Item
	if of == nil {
		of = in.Key
	}
	it := target{table: in.TableName, key: of, put: in.Item != nil}
	if err := c.pause(c.Latency); err != nil {
		return err
	}
	c.mu.Lock()
	switch {
	case c.held[it.name()]:
		c.met(func(n *Counts) { n.Conflicts++ })
		c.spend(it.partition(), 0, it.writeUnits())
		c.mu.Unlock()
		c.refuse(conflict, nil)
		return nil
	case !c.affordable(it.partition(), false):
		c.met(func(n *Counts) { n.Throttled++ })
		c.mu.Unlock()
		c.refuse(exceeded, nil)
		return nil
	}
	c.mu.Unlock()
	c.answer = c.metered()
	c.mu.Lock()
	defer c.mu.Unlock()
	units := c.consumed()
	if c.answer.errorName() == failed {
		units = it.writeUnits()
	}
	c.spend(it.partition(), 0, units)
	return nil
}

// read carries out a read of one partition.
func (c *call) read() error {
	of, err := c.readTarget()
	if err != nil {
		return err
	}
	if err := c.pause(c.Latency); err != nil {
		return err
	}
	c.mu.Lock()
	if !c.affordable(of, true) {
		c.met(func(n *Counts) { n.Throttled++ })
		c.mu.Unlock()
		c.refuse(exceeded, nil)
		return nil
	}
	c.mu.Unlock()
	c.answer = c.metered()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spend(of, c.consumed(), 0)
	return nil
}

// transact carries out a transaction.
func (c *call) transact() error {
	items, err := c.transactTargets()
	if err != nil {
		return err
	}
	reading := c.operation == "TransactGetItems"
	reasons := make([]map[string]string, len(items))
	c.mu.Lock()
	conflicts, throttled := false, false
	for i, it := range items {
		reasons[i] = map[string]string{"Code": reasonNone}
		switch {
		case c.held[it.name()]:
			conflicts = true
			reasons[i]["Code"] = reasonThrown
		case !c.affordable(it.partition(), reading):
			throttled = true
			reasons[i]["Code"] = reasonLimited
		}
	}
	switch {
	case throttled:
		c.met(func(n *Counts) { n.Throttled++ })
	case conflicts:
		c.met(func(n *Counts) { n.Conflicts++ })
		c.spendShare(items, 0, reading)
	case !reading:
		for _, it := range items {
			c.held[it.name()] = true
		}
	}
	c.mu.Unlock()
	if conflicts || throttled {
		if err := c.pause(c.Latency); err != nil {
			return err
		}
		c.refuse(cancelled, map[string]any{"CancellationReasons": reasons})
		return nil
	}
	err = c.pause(c.Hold)
	if err == nil {
		c.answer = c.metered()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !reading {
		for _, it := range items {
			delete(c.held, it.name())
		}
	}
	if err == nil {
		c.spendShare(items, c.consumed(), reading)
	}
	return err
}

// batch carries out the part of a batch that may be.
func (c *call) batch() error {
	b, err := c.parseBatch()
	if err != nil {
		return err
	}
	if err := c.pause(c.Latency); err != nil {
		return err
	}
	reading := c.operation == "BatchGetItem"
	c.mu.Lock()
	total, throttled := len(b.items), false
	var refused []batchItem
	b.items = slices.DeleteFunc(b.items, func(it batchItem) bool {
		held := !reading && c.held[it.name()]
		poor := !c.affordable(it.partition(), reading)
		if held {
			c.met(func(n *Counts) { n.Conflicts++ })
		}
		throttled = throttled || poor
		if held || poor {
			refused = append(refused, it)
		}
		return held || poor
	})
	if throttled {
		c.met(func(n *Counts) { n.Throttled++ })
	}
	c.mu.Unlock()
	if len(refused) == total && throttled {
		c.refuse(exceeded, nil)
		return nil
	}
	if len(b.items) > 0 {
		if c.body, err = b.request(b.items); err != nil {
			return err
		}
		c.answer = c.metered()
	} else {
		c.answer = answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, body: []byte(`{}`)}
	}
	c.mu.Lock()
	targets := make([]target, len(b.items))
	for i, it := range b.items {
		targets[i] = it.target
	}
	c.spendShare(targets, c.consumed(), reading)
	c.mu.Unlock()
	if len(refused) == 0 || c.answer.status != http.StatusOK {
		return nil
	}
	c.answer.body, err = b.withUnprocessed(c.answer.body, refused)
	c.answer.header = c.answer.header.Clone()
	c.answer.header.Del("Content-Length")
	return err
}

// stream carries out a request of a stream that the rules look at.
func (c *call) stream() error {
	var in struct {
		ShardID       string `json:"ShardId"`
		ShardIterator string
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return err
	}
	if err := c.pause(c.Latency); err != nil {
		return err
	}
	c.mu.Lock()
	shard := in.ShardID
	if c.operation == "GetRecords" {
		shard = c.shards[in.ShardIterator]
		now := time.Now()
		c.reads[shard] = slices.DeleteFunc(c.reads[shard], func(at time.Time) bool { return now.Sub(at) >= time.Second })
		if len(c.reads[shard]) >= c.ShardReads {
			c.met(func(n *Counts) { n.Throttled++ })
			c.mu.Unlock()
			c.refuse(limited, nil)
			return nil
		}
		c.reads[shard] = append(c.reads[shard], now)
	}
	c.mu.Unlock()
	c.answer = c.ask(c.body)
	if c.answer.err != nil || c.answer.status != http.StatusOK {
		return nil
	}
	var out struct{ ShardIterator, NextShardIterator string }
	if err := json.Unmarshal(c.answer.body, &out); err != nil {
		return fmt.Errorf("read the engine's answer: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if out.ShardIterator != "" {
		c.shards[out.ShardIterator] = shard
	}
	if out.NextShardIterator != "" {
		c.shards[out.NextShardIterator] = shard
	}
	return nil
}
