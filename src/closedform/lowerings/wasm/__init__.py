"""A program as a module of WebAssembly that needs nothing of its host."""
