#include "lagtape/tools/bench/sgemm.h"

#include <cstdint>

#ifndef LAGTAPE_WITHOUT_ONEDNN
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace lagtape::bench {

namespace {

constexpr std::int64_t kSize = 2048;

}  // namespace

Sgemm::Sgemm() : a_(kSize * kSize, 0.5f), b_(kSize * kSize, 0.25f), c_(kSize * kSize) {}

#ifdef LAGTAPE_WITHOUT_ONEDNN
void Sgemm::run(int) {}
#else
void Sgemm::run(int threads) {
  omp_set_num_threads(threads);
  dnnl_sgemm('N', 'N', kSize, kSize, kSize, 1, a_.data(), kSize, b_.data(), kSize, 0, c_.data(), kSize);
}
#endif

double Sgemm::gflops(double microseconds) { return 2e-3 * kSize * kSize * kSize / microseconds; }

}  // namespace lagtape::bench
