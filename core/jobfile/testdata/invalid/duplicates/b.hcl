agent {
  name = "two"
}

store "main" {
}

defaults {
  jitter = "2s"
}

job "a" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
  exec { command = ["false"] }
}
