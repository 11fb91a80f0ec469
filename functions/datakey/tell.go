package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
)

const (
	tellTimes  = 4
	tellWithin = 5 * time.Second
)

// tell puts the answer where CloudFormation waits for it. The address is signed:
// whoever knows it could answer, so no error repeats it.
func tell(ctx context.Context, to string, answer *cfn.Response) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("answer CloudFormation: %w", err)
	}
	for try := 1; ; try++ {
		if err = put(ctx, to, body); err == nil {
			return nil
		}
		if try == tellTimes {
			return fmt.Errorf("answer CloudFormation, %d times: %w", try, err)
		}
		if err := pause(ctx, time.Second<<try/2); err != nil {
			return fmt.Errorf("answer CloudFormation: %w", err)
		}
	}
}

func put(ctx context.Context, to string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is malformed")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err
		}
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// pause waits for half of d and a random part of the other half.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
