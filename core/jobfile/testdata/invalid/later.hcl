variable "x" {
}

anarchon {
  include          = ["jobs.d/*.hcl"]
  required_version = ">= 2"
}

agent {
  labels = { role = "worker" }
  http {
    listen = "127.0.0.1:7070"
  }
}

job "a" {
  for_each = ["a"]
  schedule = "0 0 * * *"
  http {
    url = "http://localhost/"
  }
  retry {
    tries = 3
  }
  exec {
    script = "echo hello"
    user   = "nobody"
  }
}
