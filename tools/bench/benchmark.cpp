#include "lagtape/tools/bench/benchmark.h"

#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <thread>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/tools/bench/onednn_lstm.h"
#include "lagtape/tools/bench/random_batch.h"
#include "lagtape/tools/bench/sgemm.h"
#include "lagtape/tools/train/plan_choice.h"
#include "lagtape/tools/train/training_run.h"

namespace lagtape::bench {

namespace {

constexpr int kWarmUp = 2;
constexpr int kSgemmRepeats = 15;

/// Waits until threads that spin while waiting for work have gone to sleep, so that they do not disturb the
/// next measurement.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

/// The model with a given number of threads.
class Runner {
 public:
  Runner(const Experiment& experiment, Model& model, const SequenceBatch& batch, int threads)
      : experiment_(experiment),
        model_(model),
        batch_(batch),
        pool_(threads),
        op_(model_op(experiment, model)) {}

  PlanCost plan() const {
    return choose_plan(experiment_, op_, batch_.x.size(0), batch_.x.size(1), pool_.threads());
  }

  void forward() {
    op_.loss(tape_, model_.constant_weights(tape_), batch_, pool_);
    tape_.rewind(start_);
  }

  void forward_and_backward() {
    const std::vector<Var> weights = model_.weights(tape_);
    tape_.backward(op_.loss(tape_, weights, batch_, pool_));
    tape_.rewind(start_);
  }

 private:
  const Experiment& experiment_;
  Model& model_;
  const SequenceBatch& batch_;
  ThreadPool pool_;
  ModelOp op_;
  Tape tape_;
  const Tape::Mark start_ = tape_.mark();
};

/// A runner for each number of threads: the requested one, or 1..N.
using Runners = std::map<int, std::unique_ptr<Runner>>;

Runners warm_runners(const Experiment& experiment, Model& model, const SequenceBatch& batch, int threads) {
  Runners runners;
  const int first = threads > 0 ? threads : 1;
  const int last = threads > 0 ? threads : ThreadPool::hardware_threads();
  for (int n = first; n <= last; ++n) runners[n] = std::make_unique<Runner>(experiment, model, batch, n);
  for (auto& [n, runner] : runners) {
    runner->plan();  // throws early if the budget cannot be met
    for (int i = 0; i < kWarmUp; ++i) runner->forward_and_backward();
  }
  return runners;
}

/// A model and inputs for which states and deltas are subnormal: weight vectors (biases) are zero, and inputs
/// and read-out weights are scaled down, so that both passes start with tiny numbers.
struct Subnormal {
  Model model;
  SequenceBatch batch;

  Subnormal(const Experiment& experiment, const DataShape& data, const SequenceBatch& like)
      : model(build_model(experiment, data)), batch(like) {
    const double least =
        model.dtype() == Dtype::f32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
    for (Parameter& parameter : model.parameters()) {
      if (parameter.value.rank() == 1) parameter.value.fill(0);
      if (parameter.name.starts_with("readout.")) scale(parameter.value, 100 * least);
    }
    batch.x = like.x.clone();
    if (model.tokens() == 0) scale(batch.x, least / 100);
  }

  static void scale(Tensor& tensor, double factor) {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, tensor.at(i) * factor);
  }
};

/// The times of all repeats, for each number of threads.
struct Times {
  std::vector<double> forward, total;
};

/// A total minus the fastest time of its part, because the two vary independently.
Timing rest_of(const Timing& total, const Timing& part) {
  return {.median = total.median - part.min, .min = total.min - part.min, .max = total.max - part.min};
}

/// The step of the first layer that has one.
StepProgram first_step(const Model& model) {
  for (const LayerSummary& layer : model.layers())
    if (!layer.steps.empty()) return layer.steps.front();
  return {};
}

int best_of(const std::map<int, std::vector<double>>& times) {
  int best = times.begin()->first;
  for (const auto& [threads, microseconds] : times) {
    if (timing_of(microseconds).median < timing_of(times.at(best)).median) best = threads;
  }
  return best;
}

int best_of(const std::map<int, Times>& times) {
  std::map<int, std::vector<double>> totals;
  for (const auto& [threads, all] : times) totals.emplace(threads, all.total);
  return best_of(totals);
}

/// Microseconds per step and GFLOP/s of each repeat, by number of threads.
struct Measurements {
  std::map<int, Times> times;
  std::map<int, std::vector<double>> subnormal, onednn, onednn_bf16, sgemm;
};

/// oneDNN's LSTM with the first layer's sizes, if the program includes it, in f32 and, for a bf16 model, in
/// bf16 if the processor has the instruction.
struct Peers {
  std::unique_ptr<OnednnLstm> f32, bf16;
  std::string missing;

  Peers(const LstmSizes& sizes, Precision precision) {
    if (onednn_version().empty()) {
      missing = "this program was built without oneDNN";
      return;
    }
    f32 = checked(sizes, LstmPrecision::f32);
    if (f32 && precision.products() == ProductFormat::bf16 && onednn_has_bf16())
      bf16 = checked(sizes, LstmPrecision::bf16);
  }

  /// Null, and the reason, if there is no such LSTM: it keeps all steps, which may not fit in memory.
  std::unique_ptr<OnednnLstm> checked(const LstmSizes& sizes, LstmPrecision precision) {
    const int most = ThreadPool::hardware_threads();
    check_onednn_lstm(sizes, most, precision);
    // Inputs, h and their gradients; in its workspace and scratch pad, the gates, c, h and their gradients.
    const double numbers = static_cast<double>(sizes.steps * sizes.batch) *
                           static_cast<double>(4 * sizes.input + 16 * sizes.units);
    if (const double bytes = numbers * sizeof(float); bytes > static_cast<double>(system_memory()) / 2) {
      missing = text_of("it would keep about ", bytes_of(static_cast<std::int64_t>(bytes)), " for ",
                        sizes.steps, " steps, more than half of the memory");
      return nullptr;
    }
    try {
      auto peer = std::make_unique<OnednnLstm>(sizes, random_values(sizes), precision);
      for (int threads = 1; threads <= most; ++threads) peer->run(threads);
      return peer;
    } catch (const Error& error) {
      missing = error.what();
    } catch (const std::bad_alloc&) {
      missing = text_of("the memory does not hold its ", sizes.steps, " steps");
    }
    return nullptr;
  }
};

/// Alternates all measurements, so that changes in the machine's speed affect all of them equally.
Measurements measure(const Runners& runners, const Runners& subnormal_runners, const Peers& peers,
                     std::int64_t steps, int repeats) {
  const auto awake = [](const auto& work) {
    settle();
    work();  // wakes its own threads, as in training
    return microseconds_of(work);
  };
  const auto per_step = [&](const auto& work) { return awake(work) / static_cast<double>(steps); };
  Sgemm sgemm;
  Measurements all;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const auto& [threads, runner] : runners) {
      Times& times = all.times[threads];
      times.forward.push_back(per_step([&work = *runner] { work.forward(); }));
      times.total.push_back(per_step([&work = *runner] { work.forward_and_backward(); }));
    }
    for (const auto& [threads, runner] : subnormal_runners) {
      all.subnormal[threads].push_back(per_step([&work = *runner] { work.forward_and_backward(); }));
    }
    if (onednn_version().empty()) continue;
    for (int threads = 1; peers.f32 && threads <= ThreadPool::hardware_threads(); ++threads) {
      all.onednn[threads].push_back(per_step([&] { peers.f32->run(threads); }));
      if (peers.bf16) all.onednn_bf16[threads].push_back(per_step([&] { peers.bf16->run(threads); }));
    }
    for (const auto& [threads, runner] : runners) {
      if (repeat < kSgemmRepeats)
        all.sgemm[threads].push_back(Sgemm::gflops(awake([&, count = threads] { sgemm.run(count); })));
    }
  }
  return all;
}

}  // namespace

BenchmarkResult run_benchmark(const Experiment& experiment, const DataShape& data,
                              const BenchmarkOptions& options) {
  Model model = build_model(experiment, data);
  const SequenceBatch batch = random_batch(model, data, experiment.train.batch);
  const Runners runners = warm_runners(experiment, model, batch, options.threads);
  BenchmarkResult result;
  result.steps = data.length;
  result.batch = experiment.train.batch;
  result.peak_rss_bytes = peak_rss_bytes();

  std::optional<Subnormal> subnormal;
  Runners subnormal_runners;
  if (options.subnormal) {
    subnormal.emplace(experiment, data, batch);
    subnormal_runners = warm_runners(experiment, subnormal->model, subnormal->batch, options.threads);
  }

  const StepProgram first = first_step(model);
  const std::int64_t units = first.values[first.output].shape.width();
  const LstmSizes sizes{data.length, experiment.train.batch, first.input.width(), units};
  const Peers peers(sizes, experiment.train.precision);

  Measurements all = measure(runners, subnormal_runners, peers, data.length, options.repeats);
  result.threads = best_of(all.times);
  result.forward = timing_of(all.times[result.threads].forward);
  result.total = timing_of(all.times[result.threads].total);
  result.backward = rest_of(result.total, result.forward);
  if (subnormal) result.subnormal = timing_of(all.subnormal[result.threads]);
  if (peers.f32) {
    result.onednn_threads = best_of(all.onednn);
    result.onednn_lstm = timing_of(all.onednn[result.onednn_threads]);
    result.ratio = result.total.median / result.onednn_lstm->median;
  }
  result.onednn_missing = peers.missing;
  if (!onednn_version().empty()) result.sgemm = timing_of(all.sgemm[result.threads]);
  if (peers.bf16) {
    result.onednn_bf16_threads = best_of(all.onednn_bf16);
    result.onednn_bf16_lstm = timing_of(all.onednn_bf16[result.onednn_bf16_threads]);
  }
  const PlanCost plan = runners.at(result.threads)->plan();
  result.plan = name_of(plan.plan);
  result.plan_bytes = plan.bytes;
  return result;
}

}  // namespace lagtape::bench
