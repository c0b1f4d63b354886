// An LSTM and its read-out, one step at a time for one row, as a careful Eigen user would write them for a
// plug-in: sizes known at compile time (UNITS), the four gates' products combined, no allocation.
//
//     eigen_stream STEPS REPEATS < numbers > outputs
//
// Reads f32 numbers, column by column: W [4 UNITS, UNITS], U [4 UNITS], b [4 UNITS], the read-out's V [UNITS]
// and c, then STEPS inputs. Writes STEPS f32 outputs, starting from zero states, and to stderr the nanoseconds
// per step, one line per repeat.
//
// Two macros prevent what Eigen may do but lagtape does not, to measure what each costs: READOUT_IN_ORDER sums
// the read-out in unit order, one multiply-add after another, so the result depends on nothing else;
// LAGTAPE_FUNCTIONS computes sigmoid and tanh with lagtape's formulas, which are accurate to the last digits.

#define EIGEN_STACK_ALLOCATION_LIMIT 0  // the weights are on the heap, in one object
#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#ifdef LAGTAPE_FUNCTIONS
#include "lagtape/core/simd/vector.h"
#include "lagtape/ops/kernels/vector_math.inc.h"
#endif

namespace {

template <int units>
struct Lstm {
  Eigen::Matrix<float, 4 * units, units> W;  // rows: i, f, o, g
  Eigen::Matrix<float, 4 * units, 1> U, b, gates;
  Eigen::Matrix<float, units, 1> V, h, c;
  float readout_bias;

  void start() {
    h.setZero();
    c.setZero();
  }

  float step(float x) {
    gates.noalias() = b + U * x;
    gates.noalias() += W * h;
#ifdef LAGTAPE_FUNCTIONS
    return step_by_lagtape_functions();
#else
    const auto sigmoids = 1 / (1 + (-gates.template head<3 * units>()).array().exp());
    gates.template head<3 * units>() = sigmoids;
    const auto i = gates.template segment<units>(0).array(), f = gates.template segment<units>(units).array();
    const auto o = gates.template segment<units>(2 * units).array();
    const auto g = gates.template segment<units>(3 * units).array();
    c = f * c.array() + i * g.tanh();
    h = o * c.array().tanh();
    return read_out();
#endif
  }

  float read_out() const {
#ifdef READOUT_IN_ORDER
    float sum = 0;
    for (int unit = 0; unit < units; ++unit) sum = std::fma(V[unit], h[unit], sum);
    return sum + readout_bias;
#else
    return V.dot(h) + readout_bias;
#endif
  }

#ifdef LAGTAPE_FUNCTIONS
  float step_by_lagtape_functions() {
    using S = lagtape::Simd<float, lagtape::SimdLevel::avx512>;
    using Vector = S::Vector;
    const auto gate = [&](int number, int unit) {
      return Vector::load_unaligned(gates.data() + number * units + unit);
    };
    for (int unit = 0; unit < units; unit += S::kSize) {
      const Vector i = lagtape::vector_math::sigmoid<S>(gate(0, unit)),
                   f = lagtape::vector_math::sigmoid<S>(gate(1, unit));
      const Vector o = lagtape::vector_math::sigmoid<S>(gate(2, unit)),
                   g = lagtape::vector_math::tanh<S>(gate(3, unit));
      const Vector cell = S::fma(f, Vector::load_unaligned(c.data() + unit), i * g);
      cell.store_unaligned(c.data() + unit);
      (o * lagtape::vector_math::tanh<S>(cell)).store_unaligned(h.data() + unit);
    }
    return read_out();
  }
#endif
};

void read(float* numbers, std::size_t count) {
  if (std::fread(numbers, sizeof(float), count, stdin) == count) return;
  std::fputs("eigen_stream: the input ends early\n", stderr);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::size_t steps = std::strtoull(argv[1], nullptr, 10),
                    repeats = std::strtoull(argv[2], nullptr, 10);
  const auto lstm = std::make_unique<Lstm<UNITS>>();
  read(lstm->W.data(), lstm->W.size());
  read(lstm->U.data(), lstm->U.size());
  read(lstm->b.data(), lstm->b.size());
  read(lstm->V.data(), lstm->V.size());
  read(&lstm->readout_bias, 1);
  std::vector<float> x(steps), y(steps);
  read(x.data(), steps);
  for (std::size_t repeat = 0; repeat <= repeats; ++repeat) {  // the first is not timed
    lstm->start();
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t n = 0; n < steps; ++n) y[n] = lstm->step(x[n]);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    if (repeat > 0) std::fprintf(stderr, "%.3f\n", took.count() / static_cast<double>(steps));
  }
  return std::fwrite(y.data(), sizeof(float), steps, stdout) == steps ? 0 : 1;
}
