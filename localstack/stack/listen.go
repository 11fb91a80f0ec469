package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"
)

// The services in the order of their ports, from Config.Port on.
const (
	offsetAPI = iota
	offsetLambda
	offsetDynamoDB
	offsetS3
	offsetVenue
	offsetNews
	offsetExchange
	offsetCoins
	offsetOKX
	offsetBybit
	offsetIngester // and after it the others
)

// address returns where the service at an offset listens; with port 0 the
// system picks.
func (s *Stack) address(offset int) string {
	port := 0
	if s.cfg.Port > 0 {
		port = s.cfg.Port + offset
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

func (s *Stack) listen(offset int) (net.Listener, error) {
	listener, err := net.Listen("tcp", s.address(offset))
	if err != nil {
		return nil, fmt.Errorf("port %d is taken: set QUOTARY_PORT to the first of %d free ports (%w)", s.cfg.Port+offset, offsetIngester+max(1, s.cfg.Ingesters), err)
	}
	return listener, nil
}

// reserve returns a free loopback address for a program that listens itself.
func (s *Stack) reserve(offset int) (string, error) {
	listener, err := s.listen(offset)
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// startWithin is how long a program may take to its first answer: well under a
// second on an idle machine.
const startWithin = time.Minute

// await returns when url answers HTTP at all.
func await(ctx context.Context, url string) error {
	ctx, done := context.WithTimeout(ctx, startWithin)
	defer done()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			return res.Body.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: its log is in the logs folder: %w", url, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// serve runs an HTTP server until Stop.
func (s *Stack) serve(listener net.Listener, handler http.Handler) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failure <- err
		}
	}()
	s.onStop(func(ctx context.Context) error {
		err := server.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return server.Close()
		}
		return err
	})
}

// background runs a part until Stop cancels it; it ending by itself ends the
// stack.
func (s *Stack) background(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := run(ctx)
		if ctx.Err() == nil {
			s.failure <- err
		}
		ended <- err
	}()
	s.onStop(func(stopping context.Context) error {
		cancel()
		select {
		case err := <-ended:
			if errors.Is(err, context.Canceled) || errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			return err
		case <-stopping.Done():
			return stopping.Err()
		}
	})
}
