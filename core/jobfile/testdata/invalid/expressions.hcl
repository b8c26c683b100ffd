job "a" {
  schedule    = env("NOT_SET")
  description = upper("x")
  timeout     = var.timeout
  overlap     = skip
  jitter      = true ? "1s" : "2s"
  store       = stores.main
  exec {
    command = [for s in ["a"] : s]
    dir     = env()
    env = {
      A = env(5)
      B = 1 + 1
      C = "${file("/etc/shadow")}"
      D = secret::env("X")
      E = "%{ if true }x%{ endif }"
    }
  }
}
