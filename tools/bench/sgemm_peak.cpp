#include "lagtape/tools/bench/sgemm_peak.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

namespace lagtape::bench {

double peak_gflops(int threads, int repeats) {
  constexpr dnnl_dim_t kSize = 2048;
  omp_set_num_threads(threads);
  const std::vector<float> a(kSize * kSize, 0.5f), b(kSize * kSize, 0.25f);
  std::vector<float> c(kSize * kSize);
  double best = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    dnnl_sgemm('N', 'N', kSize, kSize, kSize, 1, a.data(), kSize, b.data(), kSize, 0, c.data(), kSize);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 2e-9 * kSize * kSize * kSize / seconds);
  }
  return best;
}

}  // namespace lagtape::bench
