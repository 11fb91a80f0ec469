package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-lambda-go/cfn"

	"quotary/shared/backoff"
)

const (
	respondTries   = 4
	respondTimeout = 5 * time.Second // of one try
)

var betweenTries = backoff.Backoff{Min: time.Second, Max: 4 * time.Second}

// respond puts the answer where CloudFormation waits for it. The address is signed:
// whoever knows it could answer, so no error repeats it.
func respond(ctx context.Context, to string, answer *cfn.Response) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("answer CloudFormation: %w", err)
	}
	for try := 1; ; try++ {
		if err = put(ctx, to, body); err == nil {
			return nil
		}
		if try == respondTries {
			return fmt.Errorf("answer CloudFormation, %d times: %w", try, err)
		}
		if err := betweenTries.Wait(ctx, try-1); err != nil {
			return fmt.Errorf("answer CloudFormation: %w", err)
		}
	}
}

func put(ctx context.Context, to string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, respondTimeout)
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
