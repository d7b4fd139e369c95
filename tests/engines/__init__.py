"""The same numbers from DuckDB, PostgreSQL and Spark. `make test-engines` installs what is needed and runs them."""
