#pragma once

#include <vector>

namespace lagtape::bench {

/// oneDNN's sgemm on 2048 x 2048 matrices, as a measure of the machine's peak speed.
class Sgemm {
 public:
  Sgemm();
  void run(int threads);
  /// The Gflop/s for a run of that duration.
  static double gflops(double microseconds);

 private:
  std::vector<float> a_, b_, c_;
};

}  // namespace lagtape::bench
