package timing

// heap holds the instants that jobs wait for, the earliest on top. Every node has four children:
// that makes half as many levels as two, and four instants side by side are half a cache line.
// Instants and jobs are in arrays of their own, so that comparing touches nothing else.
type heap struct {
	at  []int64 // milliseconds since the Unix epoch
	job []int32 // the job's place in the shard
}

func newHeap(capacity int) heap {
	return heap{at: make([]int64, 0, capacity), job: make([]int32, 0, capacity)}
}

func (h *heap) len() int { return len(h.at) }

// add puts an element at the end; build must follow.
func (h *heap) add(at int64, job int32) {
	h.at = append(h.at, at)
	h.job = append(h.job, job)
}

// build makes a heap of elements in any order.
func (h *heap) build() {
	for i := (h.len()+2)/4 - 1; i >= 0; i-- {
		h.down(i, h.at[i], h.job[i])
	}
}

// replaceTop puts an element in the place of the earliest.
func (h *heap) replaceTop(at int64, job int32) { h.down(0, at, job) }

// pop takes the earliest element away.
func (h *heap) pop() {
	last := h.len() - 1
	at, job := h.at[last], h.job[last]
	h.at, h.job = h.at[:last], h.job[:last]
	if last > 0 {
		h.down(0, at, job)
	}
}

// down puts an element at i, or below it where it belongs.
func (h *heap) down(i int, at int64, job int32) {
	for {
		first := 4*i + 1
		if first >= h.len() {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, h.len()); c++ {
			if h.at[c] < h.at[least] {
				least = c
			}
		}
		if h.at[least] >= at {
			break
		}
		h.at[i], h.job[i] = h.at[least], h.job[least]
		i = least
	}
	h.at[i], h.job[i] = at, job
}
