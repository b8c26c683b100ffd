job "a" {
  description = <<TEXT
    never ends
}
