"""Only the tests are collected here: the rest is run by `make numbers`.

The folder is no package (it has no __init__.py): pytest would call it "numbers", which is a module of Python.
"""

collect_ignore_glob = ["[!t]*.py", "files/*", "questions/*"]
