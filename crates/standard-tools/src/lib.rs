//! Tools over the ports: list, read, search, write, run a command.
