"""How quantities are computed: the same as the definitions, in fewer operations."""
