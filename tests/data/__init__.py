"""Tables to priors."""
