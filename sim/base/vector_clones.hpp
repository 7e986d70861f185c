#pragma once

/// CORUN_VECTOR_CLONES before a function definition: the compiler makes a version for each vector unit, and the
/// program takes the widest that the processor has. All versions give the same bits, because the build never
/// contracts a multiplication and an addition to one rounding (-ffp-contract=off). Use it where loops over
/// vectors of the language take noticeable time; models/vector_units has whole kernels.
///
/// The sanitizers' runtimes are not ready when such a choice is made, so their builds have one version.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CORUN_VECTOR_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define CORUN_VECTOR_CLONES
#endif
