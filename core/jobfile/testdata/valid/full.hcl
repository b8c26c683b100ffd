anarchon {
  required_version = ">= 0.1, < 1"
}

agent {
  name          = "node-${env("NODE", "local")}"
  data_dir      = "/var/lib/anarchon"
  max_running   = 8
  drain_timeout = "1m30s"
}

store "main" {
  plugin = "sqlite"
  path   = "anarchon.db"
}

store "other" {
  plugin = "sqlite"
}

defaults {
  store      = store.main
  time_zone  = env("HOME_ZONE")
  max_late   = "2m"
  lease      = "1m"
  heartbeat  = "10s"
  kill_after = "10s"
  dst {
    gap = "end"
  }
}

job "backup" {
  description  = "Nightly dump of the orders database"
  schedule     = "30 2 * * *"
  jitter       = "5m"
  max_late     = "15m"
  overlap      = "allow"
  max_attempts = 1
  on_lost      = "continue"
  timeout      = "45m"
  kill_after   = "30s"
  dst {
    gap     = "skip"
    overlap = "both"
  }
  exec {
    command = [
      "pg_dump",
      "orders", # the database
    ]
    dir = "/var/lib/backup"
    env = {
      PGUSER     = "backup"
      "PGHOST"   = "db-${env("NODE", "local")}"
      PGPASSWORD = env("PASSWORD")
    }
  }
}

job "send-invoices" {
  schedule  = ["0 9 * * MON-FRI", "0 12 * * SAT"]
  time_zone = "America/New_York"
  store     = "other"
  enabled   = false
  exec {
    command = ["send"]
  }
}

job "poll:eu.west_1" {
  every  = "15s"
  offset = "5s"
  exec {
    command = ["poll"]
  }
}

job "once" {
  at = "2027-01-01T00:00:00+01:00"
  exec { command = ["party"] }
}
