// Whatever the compiler takes for this processor's family: two doubles at once on x86-64.
#define CORUN_LANES baseline_lanes
#define CORUN_LANES_NAME "baseline"
#define CORUN_LANES_WIDTH 2
#include "models/vector_units/lanes.inl"
