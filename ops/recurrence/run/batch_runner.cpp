#include "lagtape/ops/recurrence/run/batch_runner.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/ops/recurrence/memory/planner.h"
#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/slice_gradients.h"
#include "lagtape/ops/recurrence/run/slice_runner.h"

namespace lagtape::recurrence {
namespace {

/// The first row of slice i; slices are of nearly equal size.
std::int64_t slice_begin(std::int64_t batch, std::int64_t slices, std::int64_t i) {
  return batch * i / slices;
}

std::int64_t longest(const std::vector<std::int64_t>& lengths, std::int64_t row0, std::int64_t rows) {
  return *std::max_element(lengths.begin() + row0, lengths.begin() + row0 + rows);
}

template <class T>
class BatchRunnerOf final : public BatchRunner {
 public:
  BatchRunnerOf(const StackDefinition& stack, const SequenceSettings& settings)
      : stack_(stack), settings_(settings), kernels_(kernels<T>(settings.level)) {}

  double run(const Pass& pass) override;
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) override {
    return plans(batch, steps, threads, false);
  }
  std::int64_t peak_bytes() const override { return peak_; }

 private:
  CompiledStack<T>& compiled(bool input_gradient) {
    auto& stack = compiled_[input_gradient];
    if (!stack)
      stack = std::make_unique<CompiledStack<T>>(stack_, input_gradient, kernels_, settings_.compile_stages);
    return *stack;
  }
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads, bool input_gradient);
  const PlanCost& choose(std::int64_t batch, std::int64_t steps, int threads, bool input_gradient);
  std::vector<Slice<T>> cut(const PreparedPass& pass, std::int64_t batch, std::int64_t steps) const;
  void reserve(AlignedMemory& memory, std::int64_t& have, std::int64_t elements);

  const StackDefinition& stack_;
  SequenceSettings settings_;
  const Kernels<T>& kernels_;
  std::array<std::unique_ptr<CompiledStack<T>>, 2> compiled_;  // without and with a gradient of x
  struct Worker {
    std::unique_ptr<SliceRunner<T>> runner;
    const CompiledStack<T>* stack = nullptr;  // the stack that the runner was made for
    AlignedMemory memory;
    std::int64_t elements = 0;
  };
  std::vector<Worker> workers_;
  std::map<std::tuple<std::int64_t, std::int64_t, int, bool>, PlanCost> chosen_;
  AlignedMemory gradient_memory_;
  std::int64_t gradient_elements_ = 0;
  std::int64_t allocated_ = 0, peak_ = 0;
  std::mutex allocating_;
};

template <class T>
void BatchRunnerOf<T>::reserve(AlignedMemory& memory, std::int64_t& have, std::int64_t elements) {
  if (elements <= have) return;
  const std::lock_guard lock(allocating_);
  memory.reset();
  memory = allocate_aligned(static_cast<std::size_t>(elements) * sizeof(T));
  allocated_ += (elements - have) * static_cast<std::int64_t>(sizeof(T));
  have = elements;
  peak_ = std::max(peak_, allocated_);
}

template <class T>
std::vector<Slice<T>> BatchRunnerOf<T>::cut(const PreparedPass& pass, std::int64_t batch,
                                            std::int64_t steps) const {
  std::vector<Slice<T>> slices(static_cast<std::size_t>(slice_count(stack_, batch)));
  const auto count = static_cast<std::int64_t>(slices.size());
  for (std::int64_t i = 0; i < count; ++i) {
    Slice<T>& s = slices[static_cast<std::size_t>(i)];
    s.row0 = slice_begin(batch, count, i);
    s.rows = slice_begin(batch, count, i + 1) - s.row0;
    s.steps = pass.lengths.empty() ? steps : longest(pass.lengths, s.row0, s.rows);
  }
  return slices;
}

template <class T>
double BatchRunnerOf<T>::run(const Pass& given) {
  const PreparedPass pass(given, stack_);
  const Shape& shape = pass.batch.x.shape();
  CompiledStack<T>& stack = compiled(pass.x_gradient != nullptr);
  stack.load(pass.weights);

  std::vector<Slice<T>> slices = cut(pass, shape[0], shape[1]);
  Extent extent = evaluation_extent();
  if (pass.backward()) {
    extent = training_extent(choose(shape[0], shape[1], pass.pool.threads(), pass.x_gradient != nullptr));
  } else if (settings_.chunk > 0) {
    extent.chunk = settings_.chunk;
  }
  extent.first = pass.batch.first_step;

  std::optional<SliceGradients<T>> gradients;
  if (pass.weight_gradients != nullptr) {
    const std::int64_t copies = SliceGradients<T>::copies(std::ssize(slices), pass.pool.threads());
    reserve(gradient_memory_, gradient_elements_,
            copies * SliceGradients<T>::elements(*pass.weight_gradients));
    gradients.emplace(*pass.weight_gradients, reinterpret_cast<T*>(gradient_memory_.get()), copies);
  } else {
    for (auto& slice : slices) slice.gradients.resize(pass.weights.size(), nullptr);
  }

  if (workers_.size() < static_cast<std::size_t>(pass.pool.threads()))
    workers_.resize(static_cast<std::size_t>(pass.pool.threads()));
  pass.pool.run(static_cast<int>(slices.size()), [&](int i, int w) {
    try {
      Slice<T>& slice = slices[static_cast<std::size_t>(i)];
      Worker& worker = workers_[static_cast<std::size_t>(w)];
      if (worker.stack != &stack) {
        worker.runner = std::make_unique<SliceRunner<T>>(stack);
        worker.stack = &stack;
      }
      Extent own = extent;
      own.last = own.first + slice.steps;
      reserve(worker.memory, worker.elements, worker.runner->elements(own, slice.rows));
      if (gradients) slice.gradients = gradients->claim(i);
      worker.runner->run(pass, slice, own, reinterpret_cast<T*>(worker.memory.get()));
      if (gradients) gradients->finish(i);
    } catch (...) {
      if (gradients) gradients->give_up();
      throw;
    }
  });
  double loss = 0;
  for (const auto& slice : slices) loss += slice.loss;
  return loss * pass.loss_scale;
}

/// The plan for a batch of that size. It is remembered: the batches of a training have few sizes.
template <class T>
const PlanCost& BatchRunnerOf<T>::choose(std::int64_t batch, std::int64_t steps, int threads,
                                         bool input_gradient) {
  const auto key = std::tuple(batch, steps, threads, input_gradient);
  auto known = chosen_.find(key);
  if (known == chosen_.end())
    known = chosen_.emplace(key, choose_plan(plans(batch, steps, threads, input_gradient), settings_)).first;
  return known->second;
}

template <class T>
std::vector<PlanCost> BatchRunnerOf<T>::plans(std::int64_t batch, std::int64_t steps, int threads,
                                              bool input_gradient) {
  CompiledStack<T>& compiled_stack = compiled(input_gradient);
  const std::int64_t slices = slice_count(stack_, batch);
  const std::int64_t rows = (batch + slices - 1) / slices;
  std::int64_t gradients = 0;
  StackWork work;
  for (std::size_t p = 0; p < compiled_stack.programs(); ++p) {
    const bool over_time = p < compiled_stack.layers();
    const StepProgram& program =
        over_time ? compiled_stack.program(p) : compiled_stack.final_readout_program();
    for (const auto& w : program.weights) gradients += padded<T>(element_count(w.shape));
    if (over_time) work.add(program, compiled_stack.schedule(p));
  }
  SliceRunner<T> runner(compiled_stack);
  const auto bytes = [&](const PlanCost& cost) {
    Extent extent = training_extent(cost);
    extent.last = steps;
    return (runner.elements(extent, rows) * std::min<std::int64_t>(threads, slices) +
            gradients * SliceGradients<T>::copies(slices, threads)) *
           static_cast<std::int64_t>(sizeof(T));
  };
  return list_plans(work, batch, steps, settings_, bytes);
}

}  // namespace

std::unique_ptr<BatchRunner> make_batch_runner(const StackDefinition& stack, Dtype dtype,
                                               const SequenceSettings& settings) {
  if (dtype == Dtype::f32) return std::make_unique<BatchRunnerOf<float>>(stack, settings);
  return std::make_unique<BatchRunnerOf<double>>(stack, settings);
}

}  // namespace lagtape::recurrence
