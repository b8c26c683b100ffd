job "bom" {
  schedule = "@hourly"
  exec { command = ["true"] }
}