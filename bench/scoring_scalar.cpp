// What the vector units are compared with: the same source, the compiler told not to vectorise.
#define CORUN_LANES scalar_lanes
#define CORUN_LANES_NAME "scalar"
#define CORUN_LANES_WIDTH 1
#include "models/vector_units/lanes.inl"
