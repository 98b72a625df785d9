"""Linear algebra over generic arrays."""
