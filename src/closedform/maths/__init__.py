"""The equations, once: one robot, one instant, over generic arrays."""
