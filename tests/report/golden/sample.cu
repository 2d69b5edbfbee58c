// A source file for the report's excerpts; never compiled.
__device__ void add_up(unsigned *to, unsigned v) {
    *to += v;
}

__global__ void reduce(float *out) {
    float mine = sums[threadIdx.x + 1];
	add_up(count, 1);
}
