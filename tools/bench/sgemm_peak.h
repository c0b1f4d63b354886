#pragma once

namespace lagtape::bench {

/// Gflop/s of oneDNN's sgemm on 2048 x 2048 matrices with that many threads, the best of some repeats.
double peak_gflops(int threads, int repeats);

}  // namespace lagtape::bench
