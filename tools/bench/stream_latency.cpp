#include "lagtape/tools/bench/stream_latency.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/tools/bench/random_batch.h"
#include "lagtape/tools/train/streaming.h"

namespace lagtape::bench {

namespace {

constexpr std::int64_t kInputs = 1024;  // a repeat cycles through them, so they stay in the cache
constexpr double kNanoseconds = 1e3;    // per microsecond

/// The outputs of a stream from its start, step by step.
template <class T>
std::vector<T> stepped(const Stream<T>& begun, const Tensor& x) {
  Stream<T> stream = begun;
  const std::int64_t width = stream.output_width();
  std::vector<T> outputs(static_cast<std::size_t>(x.size(0) * width));
  for (std::int64_t n = 0; n < x.size(0); ++n)
    stream.step(x.values<T>().data() + n * x.size(1), outputs.data() + n * width);
  return outputs;
}

template <class T>
void check(const Model& model, const Stream<T>& stream, const Tensor& x) {
  const std::vector<T> outputs = stepped(stream, x);
  const Tensor predicted = model.predict(x);
  const auto last = predicted.values<T>().last(static_cast<std::size_t>(model.output_width()));
  if (!std::equal(last.begin(), last.end(), outputs.end() - std::ssize(last)))
    throw Error("[bench] the stream's outputs differ from those of the batch.");
}

/// Compares a stream's steps with its block, and returns their distance from the own stream's.
template <class T>
double checked_error(const Stream<T>& own, const Stream<T>& other, const Tensor& x) {
  const std::vector<T> outputs = stepped(other, x);
  std::vector<T> whole(outputs.size());
  Stream<T>(other).block(x.values<T>().data(), whole.data(), x.size(0));
  if (whole != outputs)
    throw Error("[bench] the outputs of the stream's steps differ from those of a block.");
  const std::vector<T> exact = stepped(own, x);
  const Shape shape = {std::ssize(outputs)};
  return relative_difference(Tensor::over(outputs.data(), shape, x.dtype()),
                             Tensor::over(exact.data(), shape, x.dtype()));
}

template <class T>
StreamLatency latency(const Model& model, const LatencyOptions& options) {
  const std::int64_t width = model.input_width();
  const Tensor first = random_inputs(model, {kInputs, width}, 1);
  std::vector<Stream<T>> streams = {model.stream<T>()};
  check<T>(model, streams.front(), first);
  StreamLatency result;
  if (options.weights) {
    StreamOptions streaming{.weights = options.weights};
    if (options.weights == ProductFormat::int8) streaming.calibration = first;
    streams.push_back(model.stream<T>(streaming));
    result.error = checked_error(streams[0], streams[1], first);
  }

  const FlushSubnormals flush;  // as in a real-time thread
  const Tensor x = random_inputs(model, {kInputs, width}, 2);
  const T* inputs = x.values<T>().data();
  std::vector<T> output(model.output_width());
  std::vector<std::vector<double>> times(streams.size());
  for (int repeat = -1; repeat < options.repeats; ++repeat)
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const double time = microseconds_of([&] {
        for (std::int64_t n = 0; n < options.steps; ++n)
          streams[s].step(inputs + n % kInputs * width, output.data());
      });
      if (repeat >= 0) times[s].push_back(time * kNanoseconds / static_cast<double>(options.steps));
    }
  result.own = timing_of(std::move(times.front()));
  if (streams.size() > 1) result.other = timing_of(std::move(times.back()));
  return result;
}

/// The nanoseconds between two clock readings with `work` between them.
template <class Work>
float nanoseconds_of(const Work& work) {
  return static_cast<float>(microseconds_of(work) * kNanoseconds);
}

/// The value at or below which the given fraction of sorted values lies.
double quantile(const std::vector<float>& sorted, double part) {
  const double rank = std::ceil(part * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

template <class T>
LatencyDistribution distribution(const Model& model, const LatencyOptions& options) {
  constexpr std::int64_t kMost = std::int64_t{1} << 22;
  const FlushSubnormals flush;
  const std::int64_t width = model.input_width(), warm_up = kInputs,
                     count =
                         options.steps > kMost / options.repeats ? kMost : options.steps * options.repeats;
  const Tensor x = random_inputs(model, {kInputs, width}, 2);
  const T* inputs = x.values<T>().data();
  std::vector<T> output(model.output_width());
  Stream<T> stream = model.stream<T>();
  std::vector<float> times(count), clock(kInputs);
  for (std::int64_t n = 0; n < warm_up; ++n) stream.step(inputs + n % kInputs * width, output.data());
  for (std::int64_t n = 0; n < count; ++n)
    times[n] = nanoseconds_of([&] { stream.step(inputs + n % kInputs * width, output.data()); });
  for (float& time : clock) time = nanoseconds_of([] {});
  std::ranges::sort(times);
  std::ranges::sort(clock);
  LatencyDistribution result{quantile(times, 0.5), quantile(times, 0.9999), times.back(),
                             quantile(clock, 0.5)};
  for (const float time : times) {
    const auto bin = static_cast<std::size_t>(std::max(std::ilogb(std::max(time, 0.5F)) + 1, 0));
    if (bin >= result.bins.size()) result.bins.resize(bin + 1);
    ++result.bins[bin];
  }
  return result;
}

}  // namespace

LatencyDistribution stream_distribution(const Model& model, const LatencyOptions& options) {
  return with_scalar(model.dtype(), [&]<class T>() { return distribution<T>(model, options); });
}

StreamLatency stream_latency(const Model& model, const LatencyOptions& options) {
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
