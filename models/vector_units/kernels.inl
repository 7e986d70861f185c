// Defines the table of kernels.hpp for one instruction set. The including file is compiled for that set and
// defines, before any other include,
//   CORUN_SET             its name, a C++ identifier
//   CORUN_ONE_AT_A_TIME   optional: no vectors, for the tests to compare with
// All other names here are local to the file. Every function called is always inlined, and none is of the
// standard library: the linker could keep this set's copy of a function for the whole program.

#if defined(CORUN_ONE_AT_A_TIME)
#define CORUN_WIDTH 1
#elif defined(__AVX512F__)
#define CORUN_WIDTH 8
#elif defined(__AVX2__)
#define CORUN_WIDTH 4
#else
#define CORUN_WIDTH 2
#endif
#if defined(__AVX2__)
#define CORUN_DIVIDE_BY_FMA
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>

#include "models/vector_units/kernels.hpp"

#define CORUN_INLINE inline __attribute__((always_inline))
#define CORUN_NAME_OF(set) #set
#define CORUN_NAME(set) CORUN_NAME_OF(set)

#include "models/vector_units/cost_kernels.inl"
// One file per long formula: its of_formula() gives the formula's Kernels.
#include "models/vector_units/gp_kernels.inl"
#include "models/vector_units/trees_kernels.inl"

namespace corun::inline models::CORUN_SET {

namespace {

template <class... Jobs>
constexpr FormulaKernels<FormulaList<Jobs...>> of_formulas(FormulaList<Jobs...>) {
  return {of_formula(static_cast<const Jobs*>(nullptr))...};
}

}  // namespace

extern const Kernels kernels;
const Kernels kernels{CORUN_NAME(CORUN_SET), CORUN_WIDTH, of_formulas(Formulas()),
                      of_view<SpeedTileView>(), offer};

}  // namespace corun::inline models::CORUN_SET
