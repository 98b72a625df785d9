"""SDF 1.4 to 1.11: elements and files, frames, joints; read as a robot."""
