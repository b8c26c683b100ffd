agent {
  name = "one"
}

store "main" {
}

defaults {
  jitter = "1s"
}

job "a" {
  schedule = "0 0 * * *"
  schedule = "0 1 * * *"
  exec { command = ["true"] }
}
