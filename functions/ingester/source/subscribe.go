package source

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/coder/websocket"

	"quotary/shared/backoff"
)

const (
	answerWithin = 10 * time.Second
	refusedAgain = 15 * time.Minute

	// fewRefused is how many topics may be refused though they are most: of few they may well
	// be those of one pair.
	fewRefused = 8
)

// answer is that to a message, or to one of its topics.
type answer struct {
	id      int64
	topic   any
	refused string
	noTopic bool
}

// subscriber subscribes to the topics of one connection.
type subscriber struct {
	*follower
	conn    *websocket.Conn
	answers <-chan answer
	renew   <-chan renewal // topics that are to begin again
	sent    int64          // messages
}

// subscribe subscribes to all topics and then, for as long as the connection lives, again to
// those that are refused: a pair may be listed before it can be followed. It ends with an error.
func (s *subscriber) subscribe(ctx context.Context) error {
	old := time.After(connectLives - rand.N(time.Hour))
	for topics := s.topics; ; {
		var refused []any
		for some := range slices.Chunk(topics, s.Protocol.TopicsEach) {
			if err := s.ask(ctx, some, &refused); err != nil {
				return err
			}
		}
		s.accepted(refused)
		var again <-chan time.Time
		if topics = refused; len(topics) > 0 {
			again = time.After(cmp.Or(s.Protocol.RefusedAgain, refusedAgain))
		}
		if err := s.idle(ctx, again, old); err != nil {
			return err
		}
	}
}

// idle renews topics until refused ones are to be subscribed to again, or the connection is old.
func (s *subscriber) idle(ctx context.Context, again, old <-chan time.Time) error {
	for {
		select {
		case one := <-s.renew:
			err := s.begin(ctx, one.topic)
			if one.done <- err; err != nil {
				return err
			}
		case <-again:
			return nil
		case <-old:
			return errOld
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin leaves a topic and subscribes to it again.
func (s *subscriber) begin(ctx context.Context, topic any) error {
	for _, message := range [...]func(int64, []any) any{s.Protocol.Unsubscribe, s.Protocol.Subscribe} {
		no, why, err := s.send(ctx, message, []any{topic})
		if err != nil {
			return err
		}
		if len(no) > 0 {
			return fmt.Errorf("renew %.100v: it is answered with %.200q", topic, why)
		}
	}
	return nil
}

// ask subscribes to some topics and adds those that are refused. A venue that answers a message
// as a whole does not say which they are: each half is asked for by itself.
func (s *subscriber) ask(ctx context.Context, topics []any, refused *[]any) error {
	no, why, err := s.send(ctx, s.Protocol.Subscribe, topics)
	if err != nil || len(no) == 0 {
		return err
	}
	if len(topics) > 1 && !s.Protocol.AnswersEach {
		half := len(topics) / 2
		if err := s.ask(ctx, topics[:half], refused); err != nil {
			return err
		}
		return s.ask(ctx, topics[half:], refused)
	}
	for _, topic := range no {
		*refused = append(*refused, topic)
		if !s.refused[topic] {
			s.refused[topic] = true
			s.Stats.Dropped.Add(1)
			s.Log.Warn("the venue refuses a topic; the others are followed", "topic", fmt.Sprintf("%.100v", topic), "answer", fmt.Sprintf("%.200q", why))
		}
	}
	if len(*refused) > max(fewRefused, len(s.topics)/2) {
		return fmt.Errorf("%w: of %d topics %d, the last one with %.200q", ErrSubscription, len(s.topics), len(*refused), why)
	}
	return nil
}

// accepted takes back of topics that they are refused, but for those that are still.
func (s *subscriber) accepted(refused []any) {
	for topic := range s.refused {
		if !slices.Contains(refused, topic) {
			delete(s.refused, topic)
			s.Stats.Dropped.Add(-1)
		}
	}
}

// send sends a message that subscribes to topics, or leaves them, and waits for its answers. It
// returns the topics that are refused, which are all where the message is answered as a whole,
// and why.
func (s *subscriber) send(ctx context.Context, message func(int64, []any) any, topics []any) (refused []any, why string, err error) {
	s.sent++
	b, err := json.Marshal(message(s.sent, topics))
	if err != nil {
		return nil, "", err
	}
	if err := write(ctx, s.conn, b); err != nil {
		return nil, "", fmt.Errorf("subscribe: %w", err)
	}
	await := 1
	if s.Protocol.AnswersEach {
		await = len(topics)
	}
	accepted := map[any]bool{}
	timeout := time.After(answerWithin)
	for range await {
		select {
		case a := <-s.answers:
			switch {
			case a.id != 0 && a.id != s.sent:
				return nil, "", fmt.Errorf("subscribe: message %d is answered for message %d", s.sent, a.id)
			case a.refused != "" && s.Protocol.AnswersEach && !a.noTopic:
				return nil, "", fmt.Errorf("%w: message %d is answered with %.200q", ErrSubscription, s.sent, a.refused)
			case a.refused != "":
				why = a.refused
			default:
				accepted[a.topic] = true
			}
		case <-timeout:
			return nil, "", fmt.Errorf("subscribe: no answer within %s", answerWithin)
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		}
	}
	if why != "" {
		refused = slices.DeleteFunc(slices.Clone(topics), func(topic any) bool { return accepted[topic] })
	}
	return refused, why, backoff.Sleep(ctx, s.Protocol.MessagePause)
}
