"""What is released: noise, protocols, samplers, adapters."""
