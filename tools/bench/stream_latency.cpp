#include "lagtape/tools/bench/stream_latency.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/tools/bench/random_batch.h"

namespace lagtape::bench {

namespace {

constexpr std::int64_t kInputs = 1024;  // a repeat cycles through them, so that they stay in the cache
constexpr double kNanoseconds = 1e3;    // per microsecond

template <class T>
void check(const Model& model, const Tensor& x) {
  Stream<T> stream = model.stream<T>();
  std::vector<T> output(model.output_width());
  for (std::int64_t n = 0; n < x.size(0); ++n)
    stream.step(x.values<T>().data() + n * x.size(1), output.data());
  const Tensor predicted = model.predict(x);
  const auto last = predicted.values<T>().last(output.size());
  if (!std::equal(output.begin(), output.end(), last.begin()))
    throw Error("[bench] the stream's outputs differ from those of the batch.");
}

template <class T>
Timing latency(const Model& model, const LatencyOptions& options) {
  const std::int64_t width = model.input_width();
  check<T>(model, random_inputs(model, {kInputs, width}, 1));

  const FlushSubnormals flush;  // as in a real-time thread
  const Tensor x = random_inputs(model, {kInputs, width}, 2);
  const T* inputs = x.values<T>().data();
  std::vector<T> output(model.output_width());
  Stream<T> stream = model.stream<T>();
  const auto pass = [&] {
    for (std::int64_t n = 0; n < options.steps; ++n) stream.step(inputs + n % kInputs * width, output.data());
  };
  pass();
  std::vector<double> times;
  for (int repeat = 0; repeat < options.repeats; ++repeat)
    times.push_back(microseconds_of(pass) * kNanoseconds / static_cast<double>(options.steps));
  return timing_of(std::move(times));
}

}  // namespace

Timing stream_latency(const Model& model, const LatencyOptions& options) {
  return with_scalar(model.dtype(), [&]<class T>() { return latency<T>(model, options); });
}

Timing prediction_time(const Model& model, int repeats) {
  const Tensor x = random_inputs(model, {kPredictedSteps, model.input_width()}, 2);
  model.predict(x);
  std::vector<double> times;
  for (int repeat = 0; repeat < repeats; ++repeat)
    times.push_back(microseconds_of([&] { model.predict(x); }));
  return timing_of(std::move(times));
}

}  // namespace lagtape::bench
