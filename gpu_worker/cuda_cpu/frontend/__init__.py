"""From CUDA C to C++: sources and options read as NVRTC reads them, refused or translated."""
