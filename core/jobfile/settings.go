package jobfile

import (
	"fmt"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// The ranges of settings. They keep typing errors out, and values that nothing could honour.
const (
	longest      = 366 * 24 * time.Hour
	longestLease = 365 * 24 * time.Hour // pluginapi.MaxLease
	leastLease   = 100 * time.Millisecond
	leastBeat    = 10 * time.Millisecond
	mostAttempts = 1000
)

// settings are what both a job and the defaults block may say; nil where it isn't written.
type settings struct {
	zone        *schedule.Zone
	dst         *schedule.DST
	jitter      *time.Duration
	maxLate     *time.Duration
	lease       *time.Duration
	heartbeat   *time.Duration
	timeout     *time.Duration
	killAfter   *time.Duration
	overlap     *job.Overlap
	maxAttempts *int
	onLost      *job.OnLost
	store       *string
	storeAt     place
}

// defaults is the defaults block.
type defaults struct {
	settings
	header place
	src    *source
	marks  []mark
}

// sharedAttributes are the attributes of settings.
func sharedAttributes() []string {
	return []string{
		"time_zone", "jitter", "max_late", "lease", "heartbeat", "overlap", "max_attempts", "on_lost",
		"timeout", "kill_after", "store",
	}
}

// decodeDefaults reads the defaults block.
func (l *loader) decodeDefaults(top *fields, b *hclsyntax.Block) {
	f := l.open(top.src, top.src.at(b.DefRange()), b.Body, shape{
		what:       "the defaults block",
		attributes: sharedAttributes(),
		blocks:     []string{"dst"},
		later:      []string{"exec", "http", "retry", "only_on"},
	}, owner{})
	f.noLabel(b)
	d := &defaults{settings: f.settings(), header: f.header, src: f.src}
	d.marks = f.marks
	if l.onlyOne(f, b.Type, &l.defaultsAt) {
		l.config.defaults = d
	}
}

// settings reads the settings that a job and the defaults share.
func (f *fields) settings() settings {
	s := settings{
		zone:        f.zone(),
		dst:         f.dst(),
		jitter:      f.duration("jitter", 0, longest),
		maxLate:     f.duration("max_late", time.Millisecond, longest),
		lease:       f.duration("lease", leastLease, longestLease),
		heartbeat:   f.duration("heartbeat", leastBeat, longestLease),
		timeout:     f.duration("timeout", time.Millisecond, longest),
		killAfter:   f.duration("kill_after", 0, time.Hour),
		overlap:     choice(f, "overlap", job.Skip, job.Allow),
		maxAttempts: f.whole("max_attempts", 1, mostAttempts),
		onLost:      choice(f, "on_lost", job.Kill, job.Continue),
	}
	if f.has("store") {
		s.store, s.storeAt = f.storeName(), f.at("store")
	}
	return s
}

// timing returns the complete timing of a job: what it says, else what the defaults block
// says, else the built-in defaults.
func (s settings) timing(d settings, gap time.Duration) job.Timing {
	t := job.DefaultTiming(gap)
	return job.Timing{
		Jitter:      pick(s.jitter, d.jitter, t.Jitter),
		MaxLate:     pick(s.maxLate, d.maxLate, t.MaxLate),
		Lease:       pick(s.lease, d.lease, t.Lease),
		Heartbeat:   pick(s.heartbeat, d.heartbeat, t.Heartbeat),
		Overlap:     pick(s.overlap, d.overlap, t.Overlap),
		MaxAttempts: pick(s.maxAttempts, d.maxAttempts, t.MaxAttempts),
		OnLost:      pick(s.onLost, d.onLost, t.OnLost),
	}
}

// storeName returns the store that is named as store = "redis" or store = store.redis.
func (f *fields) storeName() *string {
	x, ok := f.body.Attributes["store"].Expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return f.text("store", `"sqlite"`)
	}
	if x.Traversal.RootName() == "store" && len(x.Traversal) == 2 {
		if step, ok := x.Traversal[1].(hcl.TraverseAttr); ok {
			at := f.src.at(x.SrcRange)
			f.marks = append(f.marks, mark{"store", at.start, at.end})
			name := f.r.intern(step.Name)
			return &name
		}
	}
	f.refuse(f.at("store"), Diagnostic{
		Code:    BadExpr,
		Summary: "a store is named by a text, or by a reference to its block",
		Fix:     `Write store = "name" or store = store.name.`,
	})
	return nil
}

// chooseStore gives the job its store, and tells whether there is one.
func (l *loader) chooseStore(e entry) bool {
	if _, known := l.stores[e.job.Store]; known {
		return true
	}
	stores := l.config.Stores
	if e.job.Store == "" && len(stores) == 1 {
		e.job.Store = stores[0].Name
		return true
	}
	// Where something couldn't be read, that may be the store's block.
	if l.partial || l.report.full() {
		return false
	}
	d := Diagnostic{Code: NoStore, Job: e.job.Name}
	if e.job.Store == "" {
		d.Summary = fmt.Sprintf("there are %d stores, and the job doesn't say which one decides its runs", len(stores))
		d.Fix = fmt.Sprintf("Write store = %q in the job, or in the defaults block.", stores[0].Name)
		l.report.add(e.origin.header(), d)
		return false
	}
	names := make([]string, len(stores))
	for i, s := range stores {
		names[i] = s.Name
	}
	d.Summary = fmt.Sprintf("there is no store %s", shorten(e.job.Store))
	d.Fix = suggest(e.job.Store, names)
	l.report.add(e.storeAt, d)
	return false
}
