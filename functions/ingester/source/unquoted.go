package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
)

// errAnswer stands for an error that would quote what an upstream has sent.
var errAnswer = errors.New("the answer is none of HTTP")

// Unquoted is an error of a request to an upstream as it may be logged: without the address,
// which may hold a key, and without anything of an answer. Errors of the network, of
// certificates and of a context stay as they are, and so do those of ours.
func Unquoted(err error, ours ...error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	var network net.Error
	var alert tls.AlertError
	var certificate *tls.CertificateVerificationError
	var host x509.HostnameError
	if errors.As(err, &network) || errors.As(err, &alert) || errors.As(err, &certificate) || errors.As(err, &host) {
		return err
	}
	for _, known := range append(ours, ErrPrivate, context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF) {
		if errors.Is(err, known) {
			return err
		}
	}
	return errAnswer
}
