agent {
  max_running = "5"
}

job "a" {
  description  = 5
  enabled      = "true"
  schedule     = 5
  max_attempts = "1p4"
  overlap      = true
  on_lost      = null
  time_zone    = ["UTC"]
  exec {
    command = "echo hello"
    env     = ["A=1"]
    dir     = ""
  }
}

job "b" {
  schedule     = ["0 0 * * *", 5]
  max_attempts = -1
  overlap      = "skp"
  on_lost      = "explode"
  exec {
    command = ["echo", 5]
    env = {
      A        = 1
      "1B"     = "x"
      A        = "again"
      ANARCHON_JOB = "x"
    }
  }
}

job "c" {
  schedule     = "0 0 * * *"
  max_attempts = 1.5
  exec {
    command = []
  }
}

job "d" {
  schedule = "0 0 * * *"
  exec {
    command = ["a\u0000b"]
  }
}
