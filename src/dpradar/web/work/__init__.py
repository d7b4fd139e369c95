"""Work apart from the server: tasks, the processes that do them, and the jobs that wait for them."""
