#include "lagtape/data/tasks/fitzhugh_nagumo.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "lagtape/data/streams.h"
#include "lagtape/tests/data/support/statistics.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

constexpr std::array<std::size_t, 7> kSamples = {1, 10, 50, 100, 250, 500, 1000};

struct Known {
  double start;
  std::array<double, 7> v;  ///< at kSamples
};

}  // namespace

// From SciPy 1.17.1: solve_ivp(f, (0, 400), [start, 0], t_eval=numpy.linspace(0, 400, 1001)).y[0]
TEST_CASE("with the tolerances of the protocol the voltages are those of SciPy's RK45") {
  for (const Known& known : {Known{0,
                                   {0.244000882935, 1.888129886762, 1.565271895753, 0.800135407400,
                                    -1.213673447405, -1.542113866259, 1.207100668383}},
                             Known{0.5,
                                   {0.929363537224, 1.880552403259, 1.554687952735, 0.731135888467,
                                    -1.205326029871, -1.536861324067, 1.192055180796}},
                             Known{-1,
                                   {-1.065563957841, -1.328616940438, -1.090381583034, 1.876270585171,
                                    -1.727841897473, 0.066472327892, 1.043198723891}}}) {
    const std::vector<double> v = fitzhugh_nagumo(known.start, 1001, {});
    for (std::size_t k = 0; k < kSamples.size(); ++k) {
      CAPTURE(known.start);
      CAPTURE(kSamples[k]);
      // The coarse steps are at the edge of stability and amplify rounding: SciPy itself moves by 0.01 at the
      // last point when the start moves by 1e-15.
      const double tolerance = kSamples[k] <= 250 ? 1e-7 : kSamples[k] == 500 ? 1e-4 : 0.03;
      CHECK(std::abs(v[kSamples[k]] - known.v[k]) < tolerance);
    }
  }
}

TEST_CASE("with small tolerances the voltages are the known accurate ones") {
  for (const Known& known :
       {Known{0, {.244034, 1.888318, 1.565795, .797248, -1.213017, -1.540868, 1.197053}},
        Known{0.5, {.929362, 1.880484, 1.555512, .729217, -1.205317, -1.534299, 1.179404}},
        Known{-1, {-1.065563, -1.328215, -1.089731, 1.876568, -1.727632, -.061483, 1.528619}}}) {
    const std::vector<double> v = fitzhugh_nagumo(known.start, 1001, {1e-11, 1e-12});
    for (std::size_t k = 0; k < kSamples.size(); ++k) {
      CAPTURE(known.start);
      CAPTURE(kSamples[k]);
      CHECK(std::abs(v[kSamples[k]] - known.v[k]) < 1.5e-6);
    }
  }
}

TEST_CASE("the FitzHugh-Nagumo set has its known statistics and sizes") {
  const ReadTask read = task_from(R"({"task": "fitzhugh_nagumo"})");
  CHECK(read.filled == parse_json(R"({"task": "fitzhugh_nagumo", "rtol": 1e-3, "atol": 1e-6, "length": 1000,
                                     "train": 128, "valid": 128, "test": 1024})",
                                  ""));
  const Task task = load(R"({"task": "fitzhugh_nagumo", "train": 400, "valid": 0, "test": 0})", 1);
  CHECK(task.shape.length == 1000);
  const SeriesStatistics s = statistics_of(take(*task.train, 0, 400));
  CHECK(std::abs(s.mean + 0.250) < 0.014);  // mean of 1500 starts by SciPy; 3 standard errors
  CHECK(std::abs(s.deviation - 1.477) < 0.006);
  CHECK(std::abs(s.persistence - 7.87e-2) < 3e-4);
  CHECK(std::abs(s.extrapolation - 2.84e-2) < 2e-4);
  CHECK(std::abs(s.least + 2.002) < 5e-3);
  CHECK(std::abs(s.largest - 1.960) < 5e-3);
}

TEST_CASE("a neuron starts at U(-1, 1) and is asked for its next voltage") {
  const Task task = load(R"({"task": "fitzhugh_nagumo", "train": 300, "length": 4, "rtol": 1e-8})", 7);
  const Batch batch = take(*task.train, 0, 300);
  double least = 1, largest = -1;
  for (std::int64_t row = 0; row < 300; ++row) {
    const double start = batch.x.at(row * 4);
    least = std::min(least, start), largest = std::max(largest, start);
    CHECK(start == 2 * sequence_stream(7, Split::train, row).next_uniform() - 1);
  }
  CHECK(least < -0.95);
  CHECK(largest > 0.95);
  const std::vector<double> v = fitzhugh_nagumo(batch.x.at(0), 5, {1e-8, 1e-6});
  CHECK(values_of(take(*task.train, 0, 1).y) == std::vector<double>(v.begin() + 1, v.end()));
}
