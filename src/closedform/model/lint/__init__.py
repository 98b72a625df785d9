"""`lint`: what is wrong or doubtful in a robot or its file."""
