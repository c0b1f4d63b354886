#pragma once

#include <vector>

namespace lagtape::bench {

/// oneDNN's sgemm on 2048 x 2048 matrices: what the machine does with products that have nothing to wait for.
class Sgemm {
 public:
  Sgemm();
  void run(int threads);
  /// Gflop/s of a run that took so long.
  static double gflops(double microseconds);

 private:
  std::vector<float> a_, b_, c_;
};

}  // namespace lagtape::bench
