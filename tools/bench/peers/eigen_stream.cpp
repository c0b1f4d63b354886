// An LSTM and its read-out, a step at a time for one row, as a careful user of Eigen writes them for a
// plug-in: sizes known when compiled (UNITS), the four gates' products as one, nothing allocated.
//
//     eigen_stream STEPS REPEATS < numbers > outputs
//
// Reads f32 numbers, column by column: W [4 UNITS, UNITS], U [4 UNITS], b [4 UNITS], the read-out's V [UNITS]
// and c, then STEPS inputs. Writes STEPS outputs from the zero state, f32; and on stderr the nanoseconds of a
// step, one line a repeat.

#define EIGEN_STACK_ALLOCATION_LIMIT 0  // the weights are on the heap, in one object
#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

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
    const auto sigmoids = 1 / (1 + (-gates.template head<3 * units>()).array().exp());
    gates.template head<3 * units>() = sigmoids;
    const auto i = gates.template segment<units>(0).array(), f = gates.template segment<units>(units).array();
    const auto o = gates.template segment<units>(2 * units).array();
    const auto g = gates.template segment<units>(3 * units).array();
    c = f * c.array() + i * g.tanh();
    h = o * c.array().tanh();
    return V.dot(h) + readout_bias;
  }
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
