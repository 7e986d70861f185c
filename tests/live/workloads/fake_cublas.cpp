// The four functions of cuBLAS that workloads use, on the processor. Matrices are column-major, as in cuBLAS.
// FAKE_CUBLAS_CREATE and FAKE_CUBLAS_SGEMM are the statuses to return, 0 by default.
#include <cstddef>
#include <cstdlib>

namespace {

int handle = 0;
void* stream_of_handle = nullptr;

int status_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** out) {
  *out = &handle;
  ++handle;
  return status_of("FAKE_CUBLAS_CREATE");
}
int cublasDestroy_v2(void* of) {
  if (of != &handle || handle == 0) std::abort();
  --handle;
  return 0;
}
int cublasSetStream_v2(void* of, void* stream) {
  stream_of_handle = stream;
  return of == &handle ? 0 : 7;
}
int cublasSgemm_v2(void* of, int transpose_a, int transpose_b, int m, int n, int k,
                   const float* alpha, const float* a, int lda, const float* b, int ldb,
                   const float* beta, float* c, int ldc) {
  if (of != &handle || stream_of_handle == nullptr || transpose_a != 0 || transpose_b != 0)
    return 7;
  const auto at = [](int row, int column, int leading) {
    return static_cast<std::size_t>(column) * leading + row;
  };
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[at(i, l, lda)] * b[at(l, j, ldb)];
      // As in BLAS: with beta 0, C is not read.
      c[at(i, j, ldc)] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[at(i, j, ldc)]);
    }
  }
  return status_of("FAKE_CUBLAS_SGEMM");
}
}
