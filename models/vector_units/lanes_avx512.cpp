// Eight doubles at once. Compiled with -mavx512f -mavx512dq -mavx512vl -mprefer-vector-width=512.
#define CORUN_LANES avx512_lanes
#define CORUN_LANES_NAME "avx512"
#define CORUN_LANES_WIDTH 8
#define CORUN_DIVIDE_BY_FMA
#include "models/vector_units/lanes.inl"
