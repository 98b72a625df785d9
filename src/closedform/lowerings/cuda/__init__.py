"""Programs on NVIDIA's GPUs: PTX, one thread a state, compiled by the driver."""
