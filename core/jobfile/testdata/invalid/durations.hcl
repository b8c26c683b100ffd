job "a" {
  schedule   = "0 0 * * *"
  jitter     = "-5m"
  max_late   = "+5m"
  lease      = "1h1h"
  heartbeat  = ".5h"
  timeout    = 5
  kill_after = "5"
  exec { command = ["true"] }
}

job "b" {
  schedule   = "0 0 * * *"
  jitter     = "0.1ns"
  max_late   = "30s1m"
  lease      = "9223372037s"
  heartbeat  = "2562047h47m16s"
  timeout    = "0s"
  kill_after = "2h"
  exec { command = ["true"] }
}

job "c" {
  schedule = "0 0 * * *"
  jitter   = ""
  max_late = "1 m"
  lease    = 5m
  exec { command = ["true"] }
}
