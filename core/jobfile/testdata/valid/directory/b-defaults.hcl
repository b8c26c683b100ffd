defaults {
  time_zone = "Asia/Tokyo"
  jitter    = "1s"
}

job "same-file" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}
