package testserver

import (
	"errors"
	"net"
	"sync"
	"testing"
)

// Proxy passes TCP connections on to a server, and fails as networks do. Its methods may be
// called concurrently.
type Proxy struct {
	listener net.Listener
	work     sync.WaitGroup

	mu      sync.Mutex // guards what follows
	target  string
	links   map[*link]bool
	refuse  bool
	stalled chan struct{} // closed when bytes may pass; nil while they may
	replies int           // how many more bytes of replies pass before a connection is cut; negative: all
	cuts    int
	closed  bool
}

// link is one connection through the proxy.
type link struct{ client, server net.Conn }

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// NewProxy starts a proxy on 127.0.0.1 for the server at target, HOST:PORT or the path of a Unix
// socket. It ends with the test.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: listener, target: target, links: map[*link]bool{}, replies: -1}
	p.work.Go(p.accept)
	tb.Cleanup(p.Close)
	return p
}

// Addr returns where the proxy listens, HOST:PORT.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Port returns the port that the proxy listens on.
func (p *Proxy) Port() int {
	addr, _ := p.listener.Addr().(*net.TCPAddr)
	return addr.Port
}

// Retarget sends later connections to another server.
func (p *Proxy) Retarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Refuse has later connections closed at once, until it is called with false.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// Stall holds all bytes back, both ways, until [Proxy.Flow].
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Flow ends a [Proxy.Stall].
func (p *Proxy) Flow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// LoseReply lets n more bytes pass from the server to clients, and cuts the connection that has
// the next one: the server has done what it was asked for, and the client never hears of it.
// It happens once for each call.
func (p *Proxy) LoseReply(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies = n
}

// Cuts returns how many connections [Proxy.LoseReply] has cut.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Close ends the proxy and all its connections. It may be called more than once.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Flow()
	_ = p.listener.Close()
	p.Cut()
	p.work.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // of this connection only
		}
		p.work.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	target, refuse := p.target, p.refuse
	p.mu.Unlock()
	if refuse {
		_ = client.Close()
		return
	}
	network := "tcp"
	if target[0] == '/' {
		network = "unix"
	}
	server, err := net.Dial(network, target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client, server}
	if !p.add(l) {
		l.close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pass(l, server, client, false) })
	both.Go(func() { p.pass(l, client, server, true) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// add counts a connection as one that can be cut; false means that the proxy has ended.
func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.links[l] = true
	}
	return !p.closed
}

// pass passes bytes on until one side closes, which closes the other.
func (p *Proxy) pass(l *link, to, from net.Conn, reply bool) {
	defer l.close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		n, cut := p.admit(n, reply)
		if _, err := to.Write(buffer[:n]); err != nil || cut {
			return
		}
	}
}

// admit waits while bytes are held back, and returns how many of n pass, and whether the
// connection is then cut.
func (p *Proxy) admit(n int, reply bool) (int, bool) {
	p.mu.Lock()
	for stalled := p.stalled; stalled != nil; stalled = p.stalled {
		p.mu.Unlock()
		<-stalled
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	if !reply || p.replies < 0 {
		return n, false
	}
	if n <= p.replies {
		p.replies -= n
		return n, false
	}
	n, p.replies = p.replies, -1
	p.cuts++
	return n, true
}
