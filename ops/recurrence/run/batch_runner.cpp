#include "lagtape/ops/recurrence/run/batch_runner.h"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <mutex>
#include <optional>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/ops/recurrence/memory/planner.h"
#include "lagtape/ops/recurrence/memory/rank_slices.h"
#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/slice_gradients.h"
#include "lagtape/ops/recurrence/run/slice_runner.h"

namespace lagtape::recurrence {
namespace {

/// The first row of slice i; slices are nearly equal in size.
std::int64_t slice_begin(std::int64_t batch, std::int64_t slices, std::int64_t i) {
  return batch * i / slices;
}

std::int64_t longest(const std::vector<std::int64_t>& lengths, std::int64_t row0, std::int64_t rows) {
  return *std::max_element(lengths.begin() + row0, lengths.begin() + row0 + rows);
}

/// A slice runner with its memory, which serves one slice after another.
template <class T>
struct Workspace {
  std::unique_ptr<SliceRunner<T>> runner;
  const CompiledStack<T>* stack = nullptr;  ///< the stack that the runner was made for
  AlignedMemory memory;
  std::int64_t elements = 0;

  SliceRunner<T>& runner_of(const CompiledStack<T>& wanted) {
    if (stack != &wanted) runner = std::make_unique<SliceRunner<T>>(wanted);
    stack = &wanted;
    return *runner;
  }
};

template <class T>
class BatchRunnerOf final : public BatchRunner {
 public:
  BatchRunnerOf(const StackDefinition& stack, const SequenceSettings& settings)
      : stack_(stack), settings_(settings), kernels_(kernels<T>(settings.level)) {}

  double run(const BatchRequest& request) override;
  std::unique_ptr<HeldBatch> hold(const BatchRequest& request, bool input_gradient) override;
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) override {
    return plans({batch, steps, threads});
  }
  std::vector<PlanCost> held_plans(std::int64_t batch, std::int64_t steps, int threads) override {
    return plans({batch, steps, threads, false, true});
  }
  std::int64_t peak_bytes() const override { return peak_; }

 private:
  class Held;
  /// The sizes that the plan of a batch depends on.
  struct Case {
    std::int64_t batch, steps;
    int threads;
    bool input_gradient = false;
    bool held = false;  ///< all slices are held at once
    auto operator<=>(const Case&) const = default;
  };

  CompiledStack<T>& compiled(bool input_gradient) {
    auto& stack = compiled_[input_gradient];
    if (!stack)
      stack = std::make_unique<CompiledStack<T>>(stack_, input_gradient, kernels_, settings_.compile_stages);
    return *stack;
  }
  std::vector<PlanCost> plans(const Case& c);
  const PlanCost& choose(const Case& c);
  std::vector<Slice<T>> cut(const PreparedRequest& request) const;
  void reserve(AlignedMemory& memory, std::int64_t& have, std::int64_t elements);
  /// The workspaces of a held pass that is gone, for the next; they come back from any thread.
  std::vector<Workspace<T>> take_spare();
  void give_back(std::vector<Workspace<T>> workspaces);
  template <class F>
  void run_slices(const PreparedRequest& request, std::span<Slice<T>> slices, F f, Ranks* ranks = nullptr);
  /// Completes the results of a pass whose slices were shared, and returns its loss before scaling.
  double complete(const PreparedRequest& request, const std::vector<Slice<T>>& slices,
                  const RankSlices& shared) const;

  const StackDefinition& stack_;
  SequenceSettings settings_;
  const Kernels<T>& kernels_;
  std::array<std::unique_ptr<CompiledStack<T>>, 2>
      compiled_;  // without and with a gradient with respect to x
  std::vector<Workspace<T>> workers_;
  std::vector<std::vector<Workspace<T>>> spare_;  // of destroyed held passes, one per slice
  std::map<Case, PlanCost> chosen_;
  AlignedMemory gradient_memory_;
  std::int64_t gradient_elements_ = 0;
  std::int64_t allocated_ = 0, peak_ = 0;
  std::mutex allocating_;  // for what was allocated, and for the spare workspaces
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
std::vector<Slice<T>> BatchRunnerOf<T>::cut(const PreparedRequest& request) const {
  const std::int64_t batch = request.batch.x.size(0), steps = request.batch.x.size(1);
  std::vector<Slice<T>> slices(static_cast<std::size_t>(slice_count(stack_, batch)));
  const auto count = static_cast<std::int64_t>(slices.size());
  for (std::int64_t i = 0; i < count; ++i) {
    Slice<T>& s = slices[static_cast<std::size_t>(i)];
    s.row0 = slice_begin(batch, count, i);
    s.rows = slice_begin(batch, count, i + 1) - s.row0;
    s.steps = request.lengths.empty() ? steps : longest(request.lengths, s.row0, s.rows);
  }
  return slices;
}

/// Calls f(slice number, worker number) for these slices on the pool's workers, with memory for the wanted
/// weight gradients, and sums them, over all ranks if there are any.
template <class T>
template <class F>
void BatchRunnerOf<T>::run_slices(const PreparedRequest& request, std::span<Slice<T>> slices, F f,
                                  Ranks* ranks) {
  std::optional<SliceGradients<T>> gradients;
  if (std::vector<Tensor>* sums = request.backward.weight_gradients; sums != nullptr) {
    const std::int64_t copies = SliceGradients<T>::copies(std::ssize(slices), request.pool.threads(), ranks);
    reserve(gradient_memory_, gradient_elements_, copies * SliceGradients<T>::elements(*sums));
    gradients.emplace(*sums, reinterpret_cast<T*>(gradient_memory_.get()), copies, ranks);
  } else {
    for (auto& slice : slices) slice.gradients.assign(request.weights.size(), nullptr);
  }
  request.pool.run(static_cast<int>(slices.size()), [&](int i, int worker) {
    try {
      if (gradients) slices[static_cast<std::size_t>(i)].gradients = gradients->claim(i);
      f(static_cast<std::size_t>(i), static_cast<std::size_t>(worker));
      if (gradients) gradients->finish(i);
    } catch (...) {
      if (gradients) gradients->give_up();
      throw;
    }
  });
  if (gradients) gradients->sum_over_ranks();
}

template <class T>
double BatchRunnerOf<T>::complete(const PreparedRequest& request, const std::vector<Slice<T>>& slices,
                                  const RankSlices& shared) const {
  std::vector<std::int64_t> first_rows;
  std::vector<double> losses;
  for (const Slice<T>& slice : slices) {
    first_rows.push_back(slice.row0);
    losses.push_back(slice.loss);
  }
  first_rows.push_back(request.batch.x.size(0));
  if (request.outputs != nullptr) shared.complete(*request.outputs, 0, first_rows);
  if (request.backward.x_gradient != nullptr) shared.complete(*request.backward.x_gradient, 0, first_rows);
  if (request.final_window != nullptr)
    for (Tensor& state : request.final_window->states) shared.complete(state, 1, first_rows);
  if (request.backward.initial_gradient != nullptr)
    for (Tensor& gradient : *request.backward.initial_gradient) shared.complete(gradient, 1, first_rows);
  shared.complete(losses);
  double loss = 0;
  for (const double own : losses) loss += own;
  return loss;
}

template <class T>
double BatchRunnerOf<T>::run(const BatchRequest& given) {
  const PreparedRequest request(given, stack_);
  const bool input_gradient = request.backward.x_gradient != nullptr;
  const int threads = request.pool.threads();
  CompiledStack<T>& stack = compiled(input_gradient);
  stack.load(request.weights);

  std::vector<Slice<T>> slices = cut(request);
  Extent extent = evaluation_extent();
  if (request.backward.wanted()) {
    extent =
        training_extent(choose({request.batch.x.size(0), request.batch.x.size(1), threads, input_gradient}));
  } else if (settings_.chunk > 0) {
    extent.chunk = settings_.chunk;
  }
  extent.first = request.batch.first_step;

  workers_.resize(std::max(workers_.size(), static_cast<std::size_t>(threads)));
  const RankSlices shared(settings_.ranks, std::ssize(slices));
  const auto mine = std::span(slices).subspan(static_cast<std::size_t>(shared.begin()),
                                              static_cast<std::size_t>(shared.end() - shared.begin()));
  const auto run_slice = [&](std::size_t i, std::size_t w) {
    Workspace<T>& worker = workers_[w];
    SliceRunner<T>& runner = worker.runner_of(stack);
    Extent own = extent;
    own.last = own.first + mine[i].steps;
    reserve(worker.memory, worker.elements, runner.elements(own, mine[i].rows));
    runner.run(request, mine[i], own, reinterpret_cast<T*>(worker.memory.get()));
  };
  run_slices(request, mine, run_slice, settings_.ranks);
  return complete(request, slices, shared) * request.loss_scale;
}

// ---- held passes ----

template <class T>
std::vector<Workspace<T>> BatchRunnerOf<T>::take_spare() {
  const std::lock_guard lock(allocating_);
  if (spare_.empty()) return {};
  std::vector<Workspace<T>> workspaces = std::move(spare_.back());
  spare_.pop_back();
  return workspaces;
}

template <class T>
void BatchRunnerOf<T>::give_back(std::vector<Workspace<T>> workspaces) {
  const std::lock_guard lock(allocating_);
  spare_.push_back(std::move(workspaces));
}

template <class T>
class BatchRunnerOf<T>::Held final : public HeldBatch {
 public:
  Held(BatchRunnerOf& owner, const BatchRequest& request, bool input_gradient)
      : owner_(owner),
        stack_(owner.compiled(input_gradient)),
        request_(request, owner.stack_),
        slices_(owner.cut(request_)),
        extent_(training_extent(owner.choose({request.batch.x.size(0), request.batch.x.size(1),
                                              request.pool.threads(), input_gradient, true}))) {
    extent_.first = request.batch.first_step;
    forward();
    request_.outputs = nullptr;
    request_.final_window = nullptr;
  }
  ~Held() override { release(); }

  void backward(const BackwardRequest& gradients) override {
    if (workspaces_.empty()) forward();
    stack_.load(request_.weights);  // another pass may have used others
    request_.backward = gradients;
    owner_.run_slices(request_, slices_,
                      [&](std::size_t i, std::size_t) { workspaces_[i].runner->backward(); });
    request_.backward = {};
    release();
  }

 private:
  void forward() {
    workspaces_ = owner_.take_spare();
    workspaces_.resize(std::max(workspaces_.size(), slices_.size()));
    stack_.load(request_.weights);
    owner_.run_slices(request_, slices_, [&](std::size_t i, std::size_t) {
      Workspace<T>& own = workspaces_[i];
      SliceRunner<T>& runner = own.runner_of(stack_);
      Extent extent = extent_;
      extent.last = extent.first + slices_[i].steps;
      owner_.reserve(own.memory, own.elements, runner.elements(extent, slices_[i].rows));
      runner.forward(request_, slices_[i], extent, reinterpret_cast<T*>(own.memory.get()));
    });
  }

  void release() {
    if (!workspaces_.empty()) owner_.give_back(std::move(workspaces_));
    workspaces_.clear();
  }

  BatchRunnerOf& owner_;
  CompiledStack<T>& stack_;
  PreparedRequest request_;
  std::vector<Slice<T>> slices_;
  Extent extent_;
  std::vector<Workspace<T>> workspaces_;  // one per slice; none once the backward half has run
};

template <class T>
std::unique_ptr<HeldBatch> BatchRunnerOf<T>::hold(const BatchRequest& request, bool input_gradient) {
  return std::make_unique<Held>(*this, request, input_gradient);
}

// ---- plans ----

/// The plan for a batch of that size. It is cached: the batches of a training run have few sizes.
template <class T>
const PlanCost& BatchRunnerOf<T>::choose(const Case& c) {
  auto known = chosen_.find(c);
  if (known == chosen_.end()) known = chosen_.emplace(c, choose_plan(plans(c), settings_)).first;
  return known->second;
}

template <class T>
std::vector<PlanCost> BatchRunnerOf<T>::plans(const Case& c) {
  CompiledStack<T>& compiled_stack = compiled(c.input_gradient);
  const std::int64_t slices = slice_count(stack_, c.batch);
  const RankSlices shared(c.held ? nullptr : settings_.ranks, slices);
  const std::int64_t own = shared.end() - shared.begin();
  const std::int64_t at_a_time = c.held ? slices : std::min<std::int64_t>(c.threads, own);
  const std::int64_t rows = (c.batch + slices - 1) / slices;
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
    extent.last = c.steps;
    return (runner.elements(extent, rows) * at_a_time +
            gradients * SliceGradients<T>::copies(own, c.threads, c.held ? nullptr : settings_.ranks)) *
           static_cast<std::int64_t>(sizeof(T));
  };
  return list_plans(work, c.batch, c.steps, settings_, bytes);
}

}  // namespace

std::unique_ptr<BatchRunner> make_batch_runner(const StackDefinition& stack, Dtype dtype,
                                               const SequenceSettings& settings) {
  if (dtype == Dtype::f32) return std::make_unique<BatchRunnerOf<float>>(stack, settings);
  return std::make_unique<BatchRunnerOf<double>>(stack, settings);
}

}  // namespace lagtape::recurrence
