MemcpyHtoD,0x7f32c5500000,4096
kernel-1.trace
kernel-2.traceg
kernel-3.traceg
