#include <fmt/core.h>

#include <cmath>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/tools/bench/benchmark.h"
#include "lagtape/tools/bench/onednn_lstm.h"
#include "lagtape/tools/bench/stream_latency.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/place.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/train/source.h"

namespace lagtape::cli {

namespace {

struct BenchArguments {
  ExperimentArguments experiment;
  bench::BenchmarkOptions options;
  std::string plan;
  bool stream = false;
  std::string weights = "own";
  std::int64_t stream_steps = bench::LatencyOptions{}.steps;
  bool json = false;
};

void add_options(Options& options, BenchArguments& arguments) {
  arguments.experiment.add_to(options);
  options.add("--plan", &arguments.plan, "memory plan, in place of train.memory").not_empty().called("NAME");
  options.add("--threads", &arguments.options.threads, "number of threads; by default the best of 1..all")
      .between(1, 1024)
      .called("N");
  add_simd(options);
  options.add("--repeats", &arguments.options.repeats, "number of timed repeats")
      .between(1, 100000)
      .show_default();
  options.add("--subnormal", &arguments.options.subnormal,
              "also time inputs and weights that make states and deltas subnormal");
  options.add("--stream", &arguments.stream, "time one step of a stream of one row instead")
      .excludes({"--plan", "--threads", "--subnormal"});
  options.add("--steps", &arguments.stream_steps, "steps in each repeat of --stream")
      .needs({"--stream"})
      .at_least(1)
      .called("N")
      .show_default();
  options
      .add("--weights", &arguments.weights,
           "also time a stream with weights in f32, bf16 or int8, in turn with the model's own")
      .needs({"--stream"})
      .one_of({"own", "f32", "bf16", "int8"})
      .called("FORMAT")
      .show_default();
  options.add("--json", &arguments.json, "print the result as one JSON object");
}

Json json_of(const bench::Timing& timing) {
  return {{"median", timing.median}, {"min", timing.min}, {"max", timing.max}};
}

void print_json(const Experiment& experiment, const bench::BenchmarkResult& result) {
  Json json = {{"name", experiment.name},
               {"steps", result.steps},
               {"batch", result.batch},
               {"forward_us", json_of(result.forward)},
               {"backward_us", json_of(result.backward)},
               {"total_us", json_of(result.total)},
               {"plan", result.plan},
               {"plan_bytes", result.plan_bytes},
               {"peak_rss_bytes", result.peak_rss_bytes},
               {"threads", result.threads}};
  if (result.onednn_lstm) {
    json["onednn_lstm_us"] = json_of(*result.onednn_lstm);
    json["ratio"] = *result.ratio;
    json["onednn_threads"] = result.onednn_threads;
    json["onednn_version"] = bench::onednn_version();
  } else {
    json["onednn_missing"] = result.onednn_missing;
  }
  if (result.sgemm) {
    json["peak_gflops"] = result.sgemm->median;
    json["sgemm_gflops"] = json_of(*result.sgemm);
  }
  if (result.onednn_bf16_lstm) {
    json["onednn_bf16_lstm_us"] = json_of(*result.onednn_bf16_lstm);
    json["onednn_bf16_ratio"] = result.total.median / result.onednn_bf16_lstm->median;
    json["onednn_bf16_threads"] = result.onednn_bf16_threads;
  }
  if (result.subnormal) {
    json["subnormal_us"] = json_of(*result.subnormal);
    json["subnormal_ratio"] = result.subnormal->median / result.total.median;
  }
  print("{}\n", json.dump(2));
}

void print_line(const char* name, const bench::Timing& timing) {
  print("{:<14}{:>10.4g} us per step   ({:.4g} to {:.4g})\n", name, timing.median, timing.min, timing.max);
}

void print_times(const Experiment& experiment, const bench::BenchmarkResult& result) {
  print("{}: {} steps, batch {}, {} thread(s), plan {} with {}, {} resident at most\n", experiment.name,
        result.steps, result.batch, result.threads, result.plan, bytes_of(result.plan_bytes),
        bytes_of(result.peak_rss_bytes));
  print_line("forward", result.forward);
  print_line("backward", result.backward);
  print_line("total", result.total);
  if (result.subnormal) print_line("subnormal", *result.subnormal);
  if (!result.onednn_lstm)
    print("oneDNN's LSTM was not measured: {}.\n", result.onednn_missing);
  else {
    print_line("oneDNN LSTM", *result.onednn_lstm);
    print("ratio         {:>10.3f}\n", *result.ratio);
  }
  if (result.onednn_bf16_lstm) {
    print_line("in bf16", *result.onednn_bf16_lstm);
    print("ratio         {:>10.3f}\n", result.total.median / result.onednn_bf16_lstm->median);
  }
  if (result.sgemm)
    print("sgemm         {:>10.1f} Gflop/s     ({:.1f} to {:.1f})\n", result.sgemm->median, result.sgemm->min,
          result.sgemm->max);
}

Json json_of(const bench::LatencyDistribution& steps) {
  return {{"median", steps.median},
          {"p9999", steps.p9999},
          {"largest", steps.largest},
          {"clock", steps.clock},
          {"bins", steps.bins}};
}

/// A line for each bin from the first one with steps on: its bounds, its steps, and a bar of their logarithm.
void print_distribution(const bench::LatencyDistribution& steps) {
  print(
      "single steps  {:>10.4g} ns median, 99.99 % within {:.4g} ns, largest {:.4g} ns, {:.3g} ns of each for "
      "the clock\n",
      steps.median, steps.p9999, steps.largest, steps.clock);
  print("  steps by their time; the bars are logarithmic\n");
  std::size_t bin = 0;
  while (steps.bins[bin] == 0) ++bin;
  for (; bin < steps.bins.size(); ++bin) {
    const std::int64_t count = steps.bins[bin];
    const int bar = count > 0 ? 1 + static_cast<int>(2 * std::log2(static_cast<double>(count))) : 0;
    print("  below {:>10} ns {:>9}  {}\n", std::int64_t{1} << bin, count, std::string(bar, '#'));
  }
}

void print_stream(const std::string& name, const bench::Timing& timing) {
  print("{:<14}{:>10.4g} ns per step   ({:.4g} to {:.4g})\n", name, timing.median, timing.min, timing.max);
}

void run_stream(const Experiment& experiment, const DataShape& data, const BenchArguments& arguments) {
  const Model model = build_model(experiment, data);
  bench::StreamLatency latency;
  bench::Timing prediction;
  bench::LatencyDistribution steps;
  const bench::LatencyOptions options{.steps = arguments.stream_steps,
                                      .repeats = arguments.options.repeats,
                                      .weights = stream_weights_named(arguments.weights)};
  try {
    latency = bench::stream_latency(model, options);
    steps = bench::stream_distribution(model, options);
    prediction = bench::prediction_time(model, arguments.options.repeats);
  } catch (const InputError& error) {
    throw named(error, experiment.where);
  }
  const bool has_other = options.weights.has_value();
  const double ratio = has_other ? latency.other.median / latency.own.median : 1;
  if (arguments.json) {
    Json json = {{"name", experiment.name},
                 {"stream_steps", arguments.stream_steps},
                 {"stream_ns", json_of(latency.own)},
                 {"step_ns", json_of(steps)},
                 {"predict_steps", bench::kPredictedSteps},
                 {"predict_us", json_of(prediction)}};
    if (has_other)
      json.update({{"weights", arguments.weights},
                   {"weights_ns", json_of(latency.other)},
                   {"weights_ratio", ratio},
                   {"weights_error", latency.error}});
    print("{}\n", json.dump(2));
  } else {
    print("{}: stream of one row, {} steps a repeat\n", experiment.name, arguments.stream_steps);
    print_stream("stream", latency.own);
    if (has_other) {
      print_stream(arguments.weights, latency.other);
      print("ratio         {:>10.3f}, error {:.2g} of the outputs\n", ratio, latency.error);
    }
    print_distribution(steps);
    print("predict       {:>10.4g} us for {} steps   ({:.4g} to {:.4g})\n", prediction.median,
          bench::kPredictedSteps, prediction.min, prediction.max);
  }
}

void run(const BenchArguments& arguments) {
  std::vector<std::string> set = arguments.experiment.set;
  if (!arguments.plan.empty()) set.push_back("train.memory=" + arguments.plan);
  const Experiment experiment = read_experiment(arguments.experiment.parse(), set);
  ThreadPool pool(1);
  const DataShape data = data_shape(experiment, pool);
  if (arguments.stream) {
    run_stream(experiment, data, arguments);
    return;
  }
  const bench::BenchmarkResult result = bench::run_benchmark(experiment, data, arguments.options);
  if (arguments.json) {
    print_json(experiment, result);
  } else {
    print_times(experiment, result);
  }
}

}  // namespace

Command bench_command() {
  return make_command<BenchArguments>(
      "bench", "Time the forward and backward pass, and oneDNN's LSTM beside it", add_options, run,
      {{"lagtape bench load.json", "time of a step, beside an LSTM"},
       {"lagtape bench load.json --stream", "one step at a time"}});
}

}  // namespace lagtape::cli
