// Four doubles at once, with fma. Compiled with -mavx2 -mfma.
#define CORUN_LANES avx2_lanes
#define CORUN_LANES_NAME "avx2"
#define CORUN_LANES_WIDTH 4
#define CORUN_DIVIDE_BY_FMA
#include "models/vector_units/lanes.inl"
