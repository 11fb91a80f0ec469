package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
)

// Share makes the database and the objects of a running stack, which listen on
// this machine's loopback only, reachable at another address of it under the same
// ports, until ctx ends. It calls ready when they are.
//
// It is for containers: with the address of Docker's bridge, nobody else on the
// network reaches them.
func Share(ctx context.Context, s State, address string, ready func()) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 2)
	for _, service := range []string{s.DynamoDB, s.S3} {
		at, err := url.Parse(service)
		if err != nil {
			return fmt.Errorf("share %s: %w", service, err)
		}
		var listen net.ListenConfig
		listener, err := listen.Listen(ctx, "tcp", net.JoinHostPort(address, at.Port()))
		if err != nil {
			return fmt.Errorf("share %s: %w", service, err)
		}
		context.AfterFunc(ctx, func() { listener.Close() })
		serving.Go(func() { failed <- forward(ctx, listener, at.Host) })
	}
	ready()
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// Bridge is the address under which containers reach this machine.
func Bridge() (string, error) {
	const name = "docker0"
	bridge, err := net.InterfaceByName(name)
	if err != nil {
		return "", fmt.Errorf("this machine has no %s: name the address at which containers reach it (%w)", name, err)
	}
	addresses, err := bridge.Addrs()
	if err != nil {
		return "", fmt.Errorf("find the address of %s: %w", name, err)
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil {
			return network.IP.String(), nil
		}
	}
	return "", fmt.Errorf("%s has no address: name one at which containers reach this machine", name)
}

// forward connects who comes to a listener with an address.
func forward(ctx context.Context, listener net.Listener, to string) error {
	var open sync.WaitGroup
	defer open.Wait()
	for {
		from, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("share %s: %w", to, err)
		}
		open.Go(func() { join(ctx, from, to) })
	}
}

// join copies bytes in both directions until one side ends.
func join(ctx context.Context, from net.Conn, address string) {
	defer from.Close()
	var dialer net.Dialer
	to, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	defer context.AfterFunc(ctx, func() { from.Close(); to.Close() })()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // how it ended is for the two to know
			ended <- struct{}{}
		}()
	}
	<-ended
	from.Close()
	to.Close()
	<-ended
}
