#include "lagtape/tools/bench/sgemm.h"

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace lagtape::bench {

namespace {

constexpr dnnl_dim_t kSize = 2048;

}  // namespace

Sgemm::Sgemm() : a_(kSize * kSize, 0.5f), b_(kSize * kSize, 0.25f), c_(kSize * kSize) {}

void Sgemm::run(int threads) {
  omp_set_num_threads(threads);
  dnnl_sgemm('N', 'N', kSize, kSize, kSize, 1, a_.data(), kSize, b_.data(), kSize, 0, c_.data(), kSize);
}

double Sgemm::gflops(double microseconds) { return 2e-3 * kSize * kSize * kSize / microseconds; }

}  // namespace lagtape::bench
