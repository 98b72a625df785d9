"""What each quantity is, in closed form."""
