job "hello" {
  schedule = "*/10 * * * * *" # six fields: the first is seconds
  exec {
    command = ["echo", "hello"]
  }
}
