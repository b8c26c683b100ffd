job "a" {
  every = "4s"
  exec {
    command = ["true"]
    env = {
      LD_PRELOAD = "/x"
    }
  }
}
