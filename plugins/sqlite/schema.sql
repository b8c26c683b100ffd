-- Schema 1. Times named *_ms are readings of the machine's wall clock; lease_end_ns is on CLOCK_BOOTTIME of the boot in meta.
CREATE TABLE meta (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  boot TEXT NOT NULL -- the machine's boot, as the kernel names it: leases of an earlier one have ended
) STRICT;

CREATE TABLE jobs (
  job      TEXT    PRIMARY KEY,
  ended    INTEGER NOT NULL, -- how many ended runs are kept
  floor_ms INTEGER NOT NULL  -- the newest slot that was forgotten, or 0
) STRICT, WITHOUT ROWID;

-- By slot first: what is claimed, renewed and ended at the same time is on the same few pages.
CREATE TABLE runs (
  job          TEXT    NOT NULL CHECK (job <> ''),
  slot_ms      INTEGER NOT NULL CHECK (slot_ms > 0),
  outcome      INTEGER NOT NULL DEFAULT 0 CHECK (outcome BETWEEN 0 AND 5), -- 0: running
  token        TEXT    NOT NULL CHECK (token <> '' OR outcome = 5),        -- '': interrupted, so nobody's any more
  attempt      INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
  released     INTEGER NOT NULL DEFAULT 0 CHECK (released BETWEEN 0 AND attempt), -- attempts that don't count, the present one included
  given_up     INTEGER NOT NULL DEFAULT 0 CHECK (given_up IN (0, 1)),             -- the present attempt is one of them
  instance     TEXT    NOT NULL,
  claimed_ms   INTEGER NOT NULL,
  lease_end_ns INTEGER NOT NULL,
  finished_ms  INTEGER NOT NULL DEFAULT 0,
  exit_code    INTEGER NOT NULL DEFAULT 0,
  detail       TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (slot_ms, job)
) STRICT, WITHOUT ROWID;

-- The live runs of a job, for the overlap rule, and the runs whose lease has ended.
CREATE INDEX runs_running ON runs (job, slot_ms, lease_end_ns) WHERE outcome = 0;
-- The history of a job, and which of its runs are the oldest.
CREATE INDEX runs_by_job ON runs (job, slot_ms);

-- The attempts before the present one: written by takeovers only.
CREATE TABLE attempts (
  job        TEXT    NOT NULL,
  slot_ms    INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  instance   TEXT    NOT NULL,
  claimed_ms INTEGER NOT NULL,
  released   INTEGER NOT NULL CHECK (released IN (0, 1)),
  PRIMARY KEY (job, slot_ms, attempt)
) STRICT, WITHOUT ROWID;
