"""The files a robot can come from: URDF, MJCF and the project's own tables; and URDF written."""
