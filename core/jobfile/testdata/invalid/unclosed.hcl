job "a" {
  schedule = "0 0 * * *"
  exec {
    command = ["true"]
  }
