"""What the screens ask: fields from the parameters of mechanisms, read from and written to an address."""
