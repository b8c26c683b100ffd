jobs "a" {
}

retries = 3

job "a" {
  scedule = "0 0 * * *"
  exec {
    comand = ["true"]
  }
  exec = "true"
  dsst {
    gap = "skip"
  }
  timeout {
  }
}

job "Upper" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}

job {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}

job "two" "labels" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}

store "my/store" {
}

store "ok" {
  plugin = "../sqlite"
}

agent "x" {
  name = "with blank"
}
