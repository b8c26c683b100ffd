# This file comes before the one with the defaults that it needs.
job "early" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}
