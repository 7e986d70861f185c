// Reference for the vector units: the same source, one number at a time, without vectorisation. Uses the
// fma instruction: without it each fma would be a library call, and the call would dominate the time.
#define CORUN_SET scalar
#define CORUN_ONE_AT_A_TIME
#include "models/vector_units/kernels.inl"
