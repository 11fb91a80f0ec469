package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"quotary/shared/backoff"
	"quotary/shared/gate/keys"
)

const (
	// firstKey is the id of the data key that is made.
	firstKey = "k1"
	// made is what the resource's id begins with when the function has made the
	// parameter, and found when it was there.
	made, found = "made ", "found "
	// rightsWithin is how long it may take until the rights of a role that was just
	// made are known everywhere.
	rightsWithin = 40 * time.Second
	// respondShare is what part of the function's time is kept for the answer: a sixth,
	// 30 s of three minutes.
	respondShare = 6
	// reasonMost bounds what is reported of a failure, in bytes: an answer may have 4,096.
	reasonMost = 2000
)

// maker makes the first data key where there is none.
type maker struct {
	kms       *kms.Client
	ssm       *ssm.Client
	key       string        // ARN of the KMS key that wraps data keys
	parameter string        // name of the SSM parameter that holds them
	patience  time.Duration // for rights that are not known everywhere yet
	log       *slog.Logger
}

// invoke does what CloudFormation asks for and reports how that went. The error is
// that it could not be reported, so that Lambda repeats the event.
func (m *maker) invoke(ctx context.Context, event cfn.Event) error {
	answer := cfn.NewResponse(&event)
	answer.Status = cfn.StatusSuccess
	var err error
	if answer.PhysicalResourceID, err = m.do(ctx, &event); err != nil {
		answer.Status, answer.Reason = cfn.StatusFailed, err.Error()
		answer.Reason = answer.Reason[:min(len(answer.Reason), reasonMost)]
		m.log.Error("failed", "request", event.RequestType, "parameter", m.parameter, "error", err.Error())
	} else {
		m.log.Info("done", "request", event.RequestType, "resource", answer.PhysicalResourceID)
	}
	return respond(ctx, event.ResponseURL, answer)
}

// do returns the id of the resource, which CloudFormation names in later events.
func (m *maker) do(ctx context.Context, event *cfn.Event) (id string, err error) {
	if end, ok := ctx.Deadline(); ok {
		sooner, done := context.WithDeadline(ctx, end.Add(-time.Until(end)/respondShare))
		defer done()
		ctx = sooner
	}
	switch event.RequestType {
	case cfn.RequestCreate:
		how, err := m.create(ctx)
		if err != nil {
			return "none", err // without an id no answer is taken
		}
		return how + m.parameter, nil
	case cfn.RequestUpdate:
		return event.PhysicalResourceID, nil
	case cfn.RequestDelete:
		if event.PhysicalResourceID == made+m.parameter {
			err = m.remove(ctx)
		}
		return event.PhysicalResourceID, err
	default:
		return event.PhysicalResourceID, fmt.Errorf("unknown request %q", event.RequestType)
	}
}

// create makes the parameter, or makes sure of the one that is there.
func (m *maker) create(ctx context.Context) (how string, err error) {
	var text string
	err = m.permitted(ctx, func() error {
		out, err := m.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: &m.parameter})
		if err == nil {
			text = aws.ToString(out.Parameter.Value)
		}
		return err
	})
	var missing *ssmtypes.ParameterNotFound
	switch {
	case err == nil:
		return found, m.verify(ctx, text)
	case !errors.As(err, &missing):
		return "", fmt.Errorf("read the parameter %s: %w", m.parameter, err)
	}
	return made, m.make(ctx)
}

func (m *maker) make(ctx context.Context) error {
	var blob []byte
	err := m.permitted(ctx, func() error {
		out, err := m.kms.GenerateDataKeyWithoutPlaintext(ctx, &kms.GenerateDataKeyWithoutPlaintextInput{
			KeyId: &m.key, KeySpec: kmstypes.DataKeySpecAes256, EncryptionContext: bound(firstKey),
		})
		if err == nil {
			blob = out.CiphertextBlob
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("make a data key: %w", err)
	}
	text, err := json.Marshal(keys.DataKeys{Current: firstKey, Keys: map[string][]byte{firstKey: blob}})
	if err != nil {
		return fmt.Errorf("write down a data key: %w", err)
	}
	err = m.permitted(ctx, func() error {
		_, err := m.ssm.PutParameter(ctx, &ssm.PutParameterInput{
			Name: &m.parameter, Value: aws.String(string(text)), Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(false),
			Description: aws.String("Data keys that seal API secrets, wrapped by KMS. Whoever loses one loses every secret that it sealed."),
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("write the parameter %s: %w", m.parameter, err)
	}
	return nil
}

// verify reports whether the deployment's key has wrapped the data keys.
func (m *maker) verify(ctx context.Context, text string) error {
	wrapped, err := keys.ParseDataKeys([]byte(text))
	if err != nil {
		return fmt.Errorf("the parameter %s holds no data keys: %w", m.parameter, err)
	}
	if wrapped.Keys[wrapped.Current] == nil {
		return fmt.Errorf("the parameter %s lacks its current data key %q", m.parameter, wrapped.Current)
	}
	for id, blob := range wrapped.Keys {
		err := m.permitted(ctx, func() error {
			_, err := m.kms.ReEncrypt(ctx, &kms.ReEncryptInput{
				CiphertextBlob: blob, SourceKeyId: &m.key, SourceEncryptionContext: bound(id),
				DestinationKeyId: &m.key, DestinationEncryptionContext: bound(id),
			})
			return err
		})
		var other *kmstypes.IncorrectKeyException
		var damaged *kmstypes.InvalidCiphertextException
		switch {
		case errors.As(err, &other), errors.As(err, &damaged):
			return fmt.Errorf("the data key %q in the parameter %s was not wrapped by the key of this deployment: if no secret is sealed with it, delete the parameter and deploy again: %w", id, m.parameter, err)
		case err != nil:
			return fmt.Errorf("make sure of the data key %q in the parameter %s: %w", id, m.parameter, err)
		}
	}
	return nil
}

func (m *maker) remove(ctx context.Context) error {
	_, err := m.ssm.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: &m.parameter})
	var missing *ssmtypes.ParameterNotFound
	if err != nil && !errors.As(err, &missing) {
		return fmt.Errorf("delete the parameter %s: %w", m.parameter, err)
	}
	return nil
}

// bound is the encryption context that binds a wrapped data key to its id.
func bound(id string) map[string]string { return map[string]string{keys.DataKeyContext: id} }

// permitted repeats a request that is refused for want of a right, for a while: the
// role was made a moment ago.
func (m *maker) permitted(ctx context.Context, request func() error) error {
	pauses := backoff.Backoff{Min: m.patience / 20, Max: m.patience / 4}
	until := time.Now().Add(m.patience)
	for try := 0; ; try++ {
		err := request()
		var refused smithy.APIError
		if err == nil || !errors.As(err, &refused) || refused.ErrorCode() != "AccessDeniedException" || time.Now().After(until) {
			return err
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return err
		}
	}
}
