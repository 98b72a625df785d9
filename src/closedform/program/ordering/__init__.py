"""In which order a program is computed: terms by critical path, instructions by live ranges, and
machine steps by list schedule."""
