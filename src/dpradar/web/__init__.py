"""The explorer: a local web page for every question, served by ``dpradar serve`` (extra: web)."""
