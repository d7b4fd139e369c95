"""With PyTorch and Opacus: recording real trainings, and convolutional networks. `make test-torch` runs them."""
