store "main" {
  plugin = "sqlite"
}

store "backup" {
  plugin = "sqlite"
}

job "typo" {
  schedule = "0 0 * * *"
  store    = "mian"
  exec { command = ["true"] }
}

job "which" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}
