defaults {
  lease = "8s"
}

job "jitter" {
  schedule = "* * * * *"
  jitter   = "40s"
  exec { command = ["true"] }
}

job "late" {
  schedule = "0 0 * * *"
  jitter   = "5m"
  exec { command = ["true"] }
}

job "beat" {
  schedule  = "0 0 * * *"
  heartbeat = "4s"
  exec { command = ["true"] }
}

job "from-defaults" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}
