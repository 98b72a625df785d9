"""What measured torques are linear in, and what a body can have."""
