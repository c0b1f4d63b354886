// oneDNN's LSTM in a separate program, to measure a oneDNN version other than the tool's.
//
//     onednn3_lstm STEPS BATCH INPUT UNITS THREADS REPEATS
//
// prints one line of JSON: the version, and microseconds per time step for each repeat, forward and backward,
// in f32 and, if the processor has the instruction, in bf16. The results are checked first.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "lagtape/tools/bench/onednn_lstm.h"
#include "lagtape/tools/bench/timing.h"

namespace {

using namespace lagtape::bench;

struct Side {
  std::string name;
  std::unique_ptr<OnednnLstm> lstm;
  std::vector<double> times;
};

Side checked(const std::string& name, const LstmSizes& sizes, LstmPrecision precision, int threads) {
  check_onednn_lstm(sizes, threads, precision);
  return {name, std::make_unique<OnednnLstm>(sizes, random_values(sizes), precision), {}};
}

void measure(const LstmSizes& sizes, int threads, int repeats) {
  std::vector<Side> sides;
  sides.push_back(checked("f32", sizes, LstmPrecision::f32, threads));
  if (onednn_has_bf16()) sides.push_back(checked("bf16", sizes, LstmPrecision::bf16, threads));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (Side& side : sides) {
      const auto run = [&] { side.lstm->run(threads); };
      run();  // wakes its threads
      side.times.push_back(microseconds_of(run) / static_cast<double>(sizes.steps));
    }
  }
  std::printf("{\"version\": \"%s\"", onednn_version().c_str());
  for (const Side& side : sides) {
    std::printf(", \"%s\": [", side.name.c_str());
    for (std::size_t i = 0; i < side.times.size(); ++i)
      std::printf("%s%.4f", i > 0 ? ", " : "", side.times[i]);
    std::printf("]");
  }
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fputs("usage: onednn3_lstm STEPS BATCH INPUT UNITS THREADS REPEATS\n", stderr);
    return 2;
  }
  const auto number = [&](int i) { return std::atoi(argv[i]); };
  try {
    measure({.steps = number(1), .batch = number(2), .input = number(3), .units = number(4)}, number(5),
            number(6));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
