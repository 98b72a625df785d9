"""Machine code: a program as LLVM IR, and this machine."""
