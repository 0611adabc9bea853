"""The compilers: g++ for what runs here, NVRTC for what a device would need."""
