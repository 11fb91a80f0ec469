package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
)

// They stand for errors that would quote what an upstream has sent, in an answer or in its
// certificate.
var (
	errAnswer   = errors.New("the answer is none of HTTP")
	errHostname = errors.New("the certificate is of another host")
	errInvalid  = errors.New("the certificate is not valid, or not now")
	errIssuer   = errors.New("the certificate is of an unknown issuer")
)

// Unquoted is an error of a request to an upstream as it may be logged: without the address,
// which may hold a key, and without anything of an answer or a certificate. Errors of the
// network and of a context stay as they are, and so do those of ours.
func Unquoted(err error, ours ...error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	var network net.Error
	var alert tls.AlertError
	var certificate *tls.CertificateVerificationError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &host):
		return errHostname
	case errors.As(err, &invalid):
		return errInvalid
	case errors.As(err, &certificate):
		return errIssuer
	case errors.As(err, &network) || errors.As(err, &alert):
		return err
	}
	for _, known := range append(ours, ErrPrivate, context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF) {
		if errors.Is(err, known) {
			return err
		}
	}
	return errAnswer
}

// errUnexpected stands for an error of a type's own decoding, which may quote what it read.
var errUnexpected = errors.New("it is not what is expected")

// Decode decodes JSON of an upstream. Its error quotes nothing of it, as those of [json] do: it says
// what of ours cannot be read, and where.
func Decode(text []byte, out any) error {
	err := json.Unmarshal(text, out)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON, at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("the %s at byte %d is no %s", cmp.Or(kind.Field, "value"), kind.Offset, kind.Type)
	}
	return errUnexpected
}
