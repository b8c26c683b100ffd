job "report" {
  schedule = "0 75 2 * * *"
  exec { command = ["true"] }
}

job "list" {
  schedule = ["0 9 * * *", "0 25 * * *"]
  exec { command = ["true"] }
}

job "escaped" {
  schedule = "0 75 2 * *\u0020*"
  exec { command = ["true"] }
}

job "never" {
  schedule = "0 0 30 2 *"
  exec { command = ["true"] }
}

job "both" {
  schedule = "0 0 * * *"
  every    = "5m"
  exec { command = ["true"] }
}

job "none" {
  exec { command = ["true"] }
}

job "offset" {
  every  = "1m"
  offset = "90s"
  exec { command = ["true"] }
}

job "fraction" {
  every = "1500ms"
  exec { command = ["true"] }
}

job "at" {
  at = "tomorrow"
  exec { command = ["true"] }
}

job "empty" {
  schedule = []
  exec { command = ["true"] }
}

job "zone" {
  schedule  = "0 0 * * *"
  time_zone = "Europe/Berlim"
  exec { command = ["true"] }
}
