package instance

import "sync"

// queue runs functions in goroutines, at most limit at a time; the others wait in order.
// Adding never blocks.
type queue struct {
	limit int

	mu      sync.Mutex // guards what follows
	waiting []func()
	active  int
}

// add runs f soon.
func (q *queue) add(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.active == q.limit {
		q.waiting = append(q.waiting, f)
		return
	}
	q.active++
	go q.work(f)
}

// work runs f and then what waits. Its end is known to whoever counts the functions.
func (q *queue) work(f func()) {
	for f != nil {
		f()
		f = q.next()
	}
}

// next returns a function that waits, or nil: then the goroutine ends.
func (q *queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.active--
		return nil
	}
	f := q.waiting[0]
	q.waiting[0] = nil // else the array keeps it
	q.waiting = q.waiting[1:]
	return f
}
