# Three jobs to watch: `anarchon dev --config examples/quickstart`.
# There is no store block, so the instances share an SQLite database in their data directory.

defaults {
  max_late = "3s" # a slot that nobody could claim by then is skipped; the default is 60s
}

job "hello" {
  schedule = "*/2 * * * * *" # six fields: the first is seconds
  exec {
    command = ["echo", "hello"]
  }
}

job "report" {
  description = "Takes three seconds, so a run can be caught in the middle"
  every       = "5s"
  lease       = "3s"
  heartbeat   = "1s"
  exec {
    command = ["sleep", "3"]
  }
}

job "orders" {
  description = "Two runs never overlap: a slot is skipped while the last run is live"
  every       = "3s"
  exec {
    command = ["sh", "-c", "echo run $ANARCHON_RUN attempt $ANARCHON_ATTEMPT on $ANARCHON_INSTANCE"]
  }
}
