#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/tests/cells/support/cell_row.h"
#include "lagtape/tests/realtime/watch.h"

// usage: lagtape_test_realtime [--steps N]
//
// Streams of every cell do nothing that makes a real-time thread wait: no allocation, no lock and no system call in `step`,
// `block` and `reset`. Every set of options in tests/cells/rows is run for N steps (2,000), as one row
// and as three, in f32 and in f64, with a read-out of the mean, and at twice the rate.

namespace lagtape {
namespace {

using namespace test;

constexpr std::int64_t kInput = 2, kBlock = 7;
#ifdef LAGTAPE_SANITIZED
constexpr const char* kWhyNot = "the sanitizer sees functions of the C library alone";
#else
constexpr const char* kWhyNot = "this kernel lets no process filter its own";
#endif

/// A model, its stream, and room for its numbers. The stream is made in the process that is watched.
struct Run {
  std::string name;
  Model model;
  StreamOptions options;
  std::int64_t steps;
  std::function<void(Run&)> make = {}, work = {};

  template <class T>
  void set_up() {
    make = [](Run& run) {
      auto stream = std::make_shared<Stream<T>>(run.model.stream<T>(run.options));
      auto x = std::make_shared<std::vector<T>>(kBlock * run.options.rows * run.model.input_width(), T(0.25)),
           y = std::make_shared<std::vector<T>>(kBlock * run.options.rows * run.model.output_width());
      stream->step(x->data(), y->data());
      run.work = [stream, x, y](Run& r) {
        for (std::int64_t n = 0; n < r.steps; ++n) stream->step(x->data(), y->data());
        for (std::int64_t n = 0; n < r.steps; n += 10 * kBlock) stream->block(x->data(), y->data(), kBlock);
        stream->reset();
        for (int n = 0; n < 100; ++n) stream->step(x->data(), y->data());
      };
    };
  }
};

Blocking watched_run(Run& run) {
  return watched([](void* context) { static_cast<Run*>(context)->make(*static_cast<Run*>(context)); },
                 [](void* context) { static_cast<Run*>(context)->work(*static_cast<Run*>(context)); }, &run);
}

/// Whether the watch sees what it is there for.
bool sees(const char* what, Work work, std::int64_t Blocking::*member) {
  const bool seen = watched([](void*) {}, work, nullptr).*member > 0;
  std::printf("the watch sees %s: %s\n", what, seen ? "yes" : "NO");
  return seen;
}

bool sees_everything() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  [[maybe_unused]] static void* volatile memory = nullptr;
  bool all = sees(
      "an allocation", [](void*) { memory = std::malloc(1); }, &Blocking::allocations);
  all = sees(
            "a new", [](void*) { memory = ::operator new(1); }, &Blocking::allocations) &&
        all;
  all = sees(
            "a lock", [](void*) { pthread_mutex_lock(&mutex); }, &Blocking::locks) &&
        all;
  if (can_watch_system_calls())
    return sees(
               "a system call", [](void*) { getppid(); }, &Blocking::system_calls) &&
           all;
  std::printf("system calls are NOT watched by themselves: %s\n", kWhyNot);
  return all;
}

Model model_of(const std::string& cell, const Json& options, const char* at, Dtype precision) {
  Json layer = {{find_named(cells(), cell) != nullptr ? "cell" : "layer", cell}}, layers = Json::array();
  layer.update(options);
  if (options.contains("units"))  // some cells take as many inputs as they have units
    layers.push_back({{"layer", "linear"}, {"units", options["units"]}});
  layers.push_back(layer);
  JsonErrors errors;
  ModelDefinition definition =
      read_model({{"layers", layers}, {"readout", {{"units", 1}, {"at", at}}}}, Json(), errors);
  errors.raise(cell);
  definition.precision = precision;
  return Model(definition, {.input = kInput});
}

/// Whether the model runs at the rate; one with trained lags does so at its own alone.
bool can_run(const Run& run) {
  try {
    with_scalar(run.model.dtype(), [&]<class T>() { run.model.stream<T>(run.options); });
    return true;
  } catch (const InputError&) {
    if (run.options.rate == 1) throw;
    return false;
  }
}

/// Runs all models of a cell. Returns whether none blocked.
bool check_cell(const std::string& cell, std::int64_t steps) {
  bool good = true;
  int runs = 0;
  for (const Json& options : read_row(cell).options)
    for (const auto& [at, rows, precision, rate] :
         {std::tuple{"every_step", 1, Dtype::f32, 1.0}, std::tuple{"every_step", 3, Dtype::f64, 1.0},
          std::tuple{"mean", 1, Dtype::f32, 1.0}, std::tuple{"every_step", 1, Dtype::f32, 2.0}}) {
      Run run{cell + " " + options.dump(),
              model_of(cell, options, at, precision),
              {.rows = rows, .rate = rate},
              steps};
      const bool whole = !run.model.evaluation_chain().obstacle().empty();
      if (whole || !can_run(run)) continue;
      with_scalar(precision, [&]<class T>() { run.set_up<T>(); });
      const Blocking found = watched_run(run);
      ++runs;
      if (found.none()) continue;
      good = false;
      std::printf("%s, %s, %d rows, rate %g: %lld allocations, %lld locks, system call %lld\n",
                  run.name.c_str(), at, rows, rate, static_cast<long long>(found.allocations),
                  static_cast<long long>(found.locks), static_cast<long long>(found.last_system_call));
    }
  std::printf("%-20s %3d streams, %lld steps each%s\n", cell.c_str(), runs, static_cast<long long>(steps),
              good ? "" : ": NOT GOOD");
  return good && runs > 0;
}

/// The same for a layer whose weights are rounded.
bool check_weights(ProductFormat weights, const char* name, std::int64_t steps) {
  bool good = true;
  for (const std::int64_t rows : {1, 3}) {
    StreamOptions options{.rows = rows, .weights = weights};
    if (weights == ProductFormat::int8) options.calibration = Tensor({4, kInput}, Dtype::f32);
    Run run{name, model_of("lstm", {{"units", 64}}, "every_step", Dtype::f32), options, steps};
    run.set_up<float>();
    good = watched_run(run).none() && good;
  }
  std::printf("weights in %-9s   2 streams, %lld steps each%s\n", name, static_cast<long long>(steps),
              good ? "" : ": NOT GOOD");
  return good;
}

int run_all(std::int64_t steps) {
  bool good = sees_everything();
  good = check_weights(ProductFormat::bf16, "bf16", steps) && good;
  good = check_weights(ProductFormat::int8, "int8", steps) && good;
  for (const std::string& cell : row_names()) good = check_cell(cell, steps) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace lagtape

int main(int count, char** arguments) {
  std::int64_t steps = 2000;
  if (count == 3 && std::string_view(arguments[1]) == "--steps") steps = std::atoll(arguments[2]);
  try {
    return lagtape::run_all(steps);
  } catch (const lagtape::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
