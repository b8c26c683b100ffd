store "redis" {
  password = "hunter2
}
