#include "lagtape/ops/recurrence/stream.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/core/error.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/compiled_stack.h"
#include "lagtape/ops/recurrence/layer_runner.h"
#include "lagtape/ops/recurrence/row_plan.h"
#include "lagtape/ops/recurrence/step_plan.h"

namespace lagtape {

using namespace recurrence;

namespace {

/// Steps that a plan runs on before the states are moved to the front of their arrays.
constexpr std::int64_t kPlannedSteps = 32;

/// A read-out that reads once reads what has come so far; all but the mean of it is what the step gives.
StackDefinition as_stream(StackDefinition stack) {
  if (stack.at != ReadAt::mean) stack.at = ReadAt::every_step;
  stack.loss = Loss::none;
  return stack;
}

/// What copies of a stream share.
template <class T>
struct Shared {
  Shared(const StackDefinition& definition, SimdLevel level, std::span<const Tensor> weights,
         const Tensor& rows, const Normalization& scaling)
      : stack(as_stream(definition)),
        code(stack, false, kernels<T>(level), true),
        table(rows),
        normalization(scaling) {
    if (!table.empty() && (table.rank() != 2 || table.size(1) != stack.input_width()))
      throw InputError(
          concat("[stream] a table is [V, ", stack.input_width(), "]. Got ", to_string(table.shape())));
    if (!table.empty()) unknown.assign(table.size(1), std::numeric_limits<T>::quiet_NaN());
    code.load(weights);
  }
  /// The row of the table that a number names.
  const T* named(T number) const {
    if (!(number >= 0 && number < static_cast<T>(table.size(0)))) return unknown.data();
    return table.template values<T>().data() + static_cast<std::int64_t>(number) * table.size(1);
  }
  StackDefinition stack;
  CompiledStack<T> code;
  Tensor table;            // of the rows that inputs are numbers of; empty: inputs are numbers themselves
  std::vector<T> unknown;  // what a number that names no row gives
  Normalization normalization;
};

}  // namespace

template <class T>
struct Stream<T>::Implementation {
  std::shared_ptr<const Shared<T>> shared;
  std::int64_t rows, in_width, out_width;
  bool looks_up;  // inputs are numbers of rows of the table
  std::int64_t steps = 0;
  std::deque<LayerRunner<T>> layers;
  std::optional<LayerRunner<T>> head;
  std::shared_ptr<const typename RowPlan<T>::Code> row_code;
  std::optional<RowPlan<T>> row_plan;  // of single steps of one row, where they can be compiled
  std::optional<StepPlan<T>> plan;     // of other single steps, where the stack can be planned
  std::int64_t planned_until = 0;      // the plan is in place for the steps before this one
  AlignedMemory memory;
  T* mean_sum = nullptr;  // rows x padded width: the sum so far, for a read-out of the mean
  std::vector<T> scaled;  // the inputs of a run of steps, normalised; empty: as they are
  bool scales_output;

  /// `weights` as CompiledStack::load takes them.
  Implementation(std::shared_ptr<const Shared<T>> s, std::int64_t r, std::span<const Tensor> weights)
      : Implementation(std::move(s), r) {
    if (rows == 1 && !is_mean()) row_code = RowPlan<T>::compile(shared->code, layers, base(), weights);
    plan_steps();
  }
  Implementation(const Implementation& other) : Implementation(other.shared, other.rows) {
    row_code = other.row_code;
    plan_steps();
  }

 private:
  Implementation(std::shared_ptr<const Shared<T>> s, std::int64_t r)
      : shared(std::move(s)),
        rows(r),
        in_width(shared->table.empty() ? shared->stack.input_width() : 1),
        out_width(shared->stack.output_width()),
        looks_up(!shared->table.empty()),
        scales_output(!shared->normalization.output.empty()) {
    if (!shared->normalization.input.empty()) scaled.resize(SequenceOp::kRun * rows * in_width);
    const CompiledStack<T>& code = shared->code;
    for (std::size_t l = 0; l < code.layers(); ++l)
      layers.emplace_back(code.program(l), code.code(l), code.weights(l), code.kernels());
    if (code.has_head())
      head.emplace(code.head_program(), code.head_code(), code.head_weights(), code.kernels());
    Carver<T> count;
    lay_out(count);
    memory = allocate_aligned(static_cast<std::size_t>(count.used()) * sizeof(T));
    begin(nullptr, 0);
  }
  void plan_steps() {
    if (row_code != nullptr) {
      row_plan.emplace(row_code, layers, base());
    } else if (!is_mean() && StepPlan<T>::takes(shared->code)) {
      plan.emplace(shared->code, layers, rows);
    }
  }
  T* base() const { return reinterpret_cast<T*>(memory.get()); }

 public:
  bool is_mean() const { return shared->stack.at == ReadAt::mean; }
  const LayerCode& top() const { return layers.back().code(); }
  std::int64_t mean_width() const { return rows * top().output.width; }

  void lay_out(Carver<T>& carver) {
    Extent extent{steps, steps + (std::int64_t{1} << 40)};
    extent.run = SequenceOp::kRun;
    extent.chunk = kPlannedSteps;
    for (std::size_t l = 0; l < layers.size(); ++l)
      layers[l].lay_out(carver, extent, rows, l > 0 ? &layers[l - 1] : nullptr, nullptr);
    if (head) head->lay_out(carver, Extent{0, 1}, rows, nullptr, nullptr);
    mean_sum = is_mean() ? carver.take(mean_width()) : nullptr;
  }

  void begin(const std::vector<Tensor>* window, std::int64_t first) {
    end_plan();
    steps = planned_until = first;
    Carver<T> carver(base());
    lay_out(carver);
    std::size_t state = 0;
    for (auto& layer : layers) {
      layer.begin(window, state, 0);
      state += layer.program().states.size();
    }
    if (head) head->begin(nullptr, 0, 0);
    if (is_mean()) std::fill_n(mean_sum, mean_width(), T(0));
  }

  // ---- windows: the states, and the sum so far ----

  Window zero_window() const {
    Window window = lagtape::zero_window(shared->stack.layers, rows, dtype_of<T>);
    if (is_mean()) window.states.push_back(Tensor({rows, mean_columns()}, dtype_of<T>));
    return window;
  }
  void restore(const Window& window, std::int64_t first) {
    begin(&window.states, first);
    if (!is_mean()) return;
    Tensor sum = window.states.back().clone();
    for_mean_rows(sum, [](T* to, T* saved, std::int64_t n) { std::copy_n(saved, n, to); });
  }
  std::int64_t mean_columns() const {
    const StepProgram& program = layers.back().program();
    return program.values[program.output].shape.width();
  }
  /// f(row of the sum, the same row of a window's tensor, columns).
  template <class F>
  void for_mean_rows(Tensor& saved, F f) const {
    for (std::int64_t r = 0; r < rows; ++r)
      f(mean_sum + r * top().output.width, saved.values<T>().data() + r * mean_columns(), mean_columns());
  }

  // ---- steps ----

  // Outside of FlushSubnormals, as where whole sequences are scaled: the same bits.
  const T* normalized(const T* input, std::int64_t count) {
    if (scaled.empty()) return input;
    const std::span<T> numbers = std::span(scaled).first(count * rows * in_width);
    std::copy_n(input, numbers.size(), numbers.begin());
    shared->normalization.input.normalize(numbers);
    return scaled.data();
  }
  void restore_units(T* output, std::int64_t count) const {
    if (scales_output) shared->normalization.output.restore(std::span(output, count * rows * out_width));
  }

  /// The runners' arrays are in order for step `steps`.
  void end_plan() {
    if (row_plan) row_plan->end(steps);
    planned_until = steps;
  }
  void begin_plan() {
    end_plan();
    planned_until = steps + kPlannedSteps;
    for (auto& layer : layers) layer.enter_forward(steps, planned_until);
    if (plan) plan->begin(steps);
    if (!row_plan) return;
    row_plan->begin(steps);
    if (!row_plan->moves()) planned_until = std::numeric_limits<std::int64_t>::max();
  }

  void step(const T* input, T* output) {
    if (row_plan && steps < planned_until) {
      row_plan->step(steps++, vector_of(input), output);
    } else {
      other_step(input, output);
    }
  }
  /// Apart, so that what is done at every step stays small.
  [[gnu::noinline]] void other_step(const T* input, T* output) {
    if (!plan && !row_plan) return run(input, output, 1);
    if (steps >= planned_until) begin_plan();
    if (row_plan) return row_plan->step(steps++, vector_of(input), output);
    write_input(input, plan->input());
    read_output(plan->run(), top().output.width, output);
    ++steps;
  }

  void run(const T* input, T* output, std::int64_t count) {
    end_plan();
    for (auto& layer : layers) layer.enter_forward(steps, steps + count);
    planned_until = steps + count;
    for (std::int64_t t = 0; t < count; ++t) input = write_input(input, layers.front().input(steps + t));
    for (auto& layer : layers) layer.forward(steps, steps + count);
    for (std::int64_t t = 0; t < count; ++t, ++steps) {
      const T* y = layers.back().output(steps);
      std::int64_t stride = top().output.width;
      if (is_mean()) y = read_mean(y, &stride);
      output = read_output(y, stride, output);
    }
  }

  /// What a step of one row reads.
  const T* vector_of(const T* input) const { return looks_up ? shared->named(*input) : input; }

  /// Pads the rows of a step.
  const T* write_input(const T* input, T* to) const {
    if (looks_up) return write_rows(input, to);
    const std::int64_t width = in_width, stride = padded<T>(width);
    for (std::int64_t r = 0; r < rows; ++r, input += width, to += stride) {
      std::copy_n(input, width, to);
      std::fill(to + width, to + stride, T(0));
    }
    return input;
  }

  /// The rows of the table that a step's numbers name.
  const T* write_rows(const T* input, T* to) const {
    const std::int64_t width = shared->table.size(1), stride = padded<T>(width);
    for (std::int64_t r = 0; r < rows; ++r, to += stride) {
      std::copy_n(shared->named(*input++), width, to);
      std::fill(to + width, to + stride, T(0));
    }
    return input;
  }

  /// Takes the padding from the rows of a step.
  T* read_output(const T* y, std::int64_t stride, T* output) const {
    for (std::int64_t r = 0; r < rows; ++r, y += stride, output += out_width)
      std::copy_n(y, out_width, output);
    return output;
  }

  const T* read_mean(const T* y, std::int64_t* stride) {
    for (std::int64_t i = 0; i < mean_width(); ++i) mean_sum[i] += y[i];
    const T n = static_cast<T>(steps + 1);
    T* mean = head ? head->input(0) : const_cast<T*>(y);
    for (std::int64_t i = 0; i < mean_width(); ++i) mean[i] = mean_sum[i] / n;
    if (!head) return mean;
    head->enter_forward(0, 1);
    head->forward(0, 1);
    *stride = head->code().output.width;
    return head->output(0);
  }
};

template <class T>
Stream<T>::Stream(const StackDefinition& stack, std::span<const Tensor> weights, std::int64_t rows,
                  SimdLevel level, const Tensor& table, const Normalization& normalization) {
  if (rows < 1) throw InputError(concat("[stream] at least one row. Got ", rows));
  normalization.check(table.empty() ? stack.input_width() : 1, stack.output_width());
  implementation_ = std::make_unique<Implementation>(
      std::make_shared<const Shared<T>>(stack, level, weights, table, normalization), rows, weights);
}

template <class T>
Stream<T>::Stream(const Stream& other)
    : implementation_(std::make_unique<Implementation>(*other.implementation_)) {
  *this = other;
}

template <class T>
Stream<T>& Stream<T>::operator=(const Stream& other) {
  if (this == &other) return *this;
  if (implementation_->shared != other.implementation_->shared || rows() != other.rows())
    implementation_ = std::make_unique<Implementation>(*other.implementation_);
  implementation_->restore(other.window(), other.steps());
  return *this;
}

template <class T>
Stream<T>::~Stream() = default;

template <class T>
std::int64_t Stream<T>::rows() const {
  return implementation_->rows;
}
template <class T>
std::int64_t Stream<T>::input_width() const {
  return implementation_->in_width;
}
template <class T>
std::int64_t Stream<T>::output_width() const {
  return implementation_->shared->stack.output_width();
}
template <class T>
std::int64_t Stream<T>::steps() const {
  return implementation_->steps;
}

template <class T>
void Stream<T>::step(const T* input, T* output) noexcept {
  const T* numbers = implementation_->normalized(input, 1);
  {
    const FlushSubnormals flush;
    implementation_->step(numbers, output);
  }
  implementation_->restore_units(output, 1);
}

template <class T>
void Stream<T>::block(const T* input, T* output, std::int64_t count) noexcept {
  while (count > 0) {
    const std::int64_t now = std::min(count, SequenceOp::kRun);
    const T* numbers = implementation_->normalized(input, now);
    {
      const FlushSubnormals flush;
      implementation_->run(numbers, output, now);
    }
    implementation_->restore_units(output, now);
    input += now * rows() * input_width();
    output += now * rows() * output_width();
    count -= now;
  }
}

template <class T>
void Stream<T>::reset() noexcept {
  implementation_->begin(nullptr, 0);
}

template <class T>
Window Stream<T>::window() const {
  implementation_->end_plan();
  Window window = implementation_->zero_window();
  std::size_t index = 0;
  for (const auto& layer : implementation_->layers)
    for (std::size_t s = 0; s < layer.program().states.size(); ++s, ++index)
      for (std::int64_t r = 0; r < rows(); ++r)
        layer.states().write(static_cast<int>(s), steps(), r, window.states[index], r);
  if (implementation_->is_mean())
    implementation_->for_mean_rows(window.states.back(),
                                   [](T* sum, T* saved, std::int64_t n) { std::copy_n(sum, n, saved); });
  return window;
}

template <class T>
void Stream<T>::restore(const Window& window, std::int64_t steps) {
  const Window expected = implementation_->zero_window();
  if (window.states.size() != expected.states.size())
    throw InputError(
        concat("[stream] a window of ", expected.states.size(), " states. Got ", window.states.size()));
  for (std::size_t s = 0; s < expected.states.size(); ++s)
    if (window.states[s].shape() != expected.states[s].shape() ||
        window.states[s].dtype() != expected.states[s].dtype())
      throw InputError(concat("[stream] state ", s, " of a window is ", to_string(expected.states[s].shape()),
                              " ", name_of(expected.states[s].dtype()), ". Got ",
                              to_string(window.states[s].shape()), " ", name_of(window.states[s].dtype())));
  if (steps < 0) throw InputError(concat("[stream] steps >= 0. Got ", steps));
  implementation_->restore(window, steps);
}

template class Stream<float>;
template class Stream<double>;

}  // namespace lagtape
