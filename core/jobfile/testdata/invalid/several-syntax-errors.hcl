job "a" {
  schedule = "0 0 * * *"
  enabled == true
  exec { command = ["true"] }
}

job "b" {
  schedule "0 0 * * *"
  overlap = "skp"
}
