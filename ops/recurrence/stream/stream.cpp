#include "lagtape/ops/recurrence/stream/stream.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/core/tensor.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/ops/recurrence/stream/compiled_row.h"
#include "lagtape/ops/recurrence/stream/linked_step.h"
#include "lagtape/ops/recurrence/stream/range_observer.h"
#include "lagtape/ops/recurrence/stream/running_mean.h"
#include "lagtape/ops/recurrence/stream/shared_parts.h"

namespace lagtape {

using namespace recurrence;

namespace {

/// Steps that run before the states are moved to the front of their arrays.
constexpr std::int64_t kStepsBetweenMoves = 32;
/// Arrays are laid out for 2^40 steps beyond the current one.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 62;
/// The limit on the numbers in the states of all rows: half of the memory, as for plans. An absurdly large lag
/// is rejected before anything is allocated for it.
template <class T>
std::int64_t most_numbers() {
  return system_memory() / 2 / static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

template <class T>
struct Stream<T>::Implementation {
  std::shared_ptr<const SharedParts<T>> shared;
  std::int64_t rows, out_width;
  std::int64_t steps = 0;
  std::deque<LayerRunner<T>> layers;
  std::optional<LayerRunner<T>> final_readout;
  std::shared_ptr<const typename CompiledRow<T>::Code> row_program;
  std::optional<CompiledRow<T>> compiled_row;  // for single steps of one row, if they can be compiled
  std::optional<LinkedStep<T>> linked_step;    // for other single steps, if the stack can be linked
  std::int64_t ready_until = 0;                // arrays are in place for the steps before this one
  AlignedMemory memory;
  T* scratch = nullptr;                               // memory of compiled steps
  std::optional<RunningMean<T>> mean;                 // for a read-out of the mean
  std::vector<std::pair<Shape, Dtype>> window_parts;  // the shapes of a window's tensors
  std::vector<T> scaled;  // normalized inputs of a run of steps; empty: not scaled

  /// `weights` as CompiledStack::load takes them.
  Implementation(std::shared_ptr<const SharedParts<T>> s, std::int64_t r, std::span<const Tensor> weights)
      : Implementation(std::move(s), r) {
    if (rows == 1 && !mean)
      row_program = CompiledRow<T>::compile(shared->compiled, layers, base(), scratch, weights);
    choose_single_step();
  }
  Implementation(const Implementation& other) : Implementation(other.shared, other.rows) {
    row_program = other.row_program;
    choose_single_step();
  }

 private:
  Implementation(std::shared_ptr<const SharedParts<T>> s, std::int64_t r)
      : shared(std::move(s)), rows(r), out_width(shared->stack.output_width()) {
    const CompiledStack<T>& stack = shared->compiled;
    for (std::size_t l = 0; l < stack.layers(); ++l)
      layers.emplace_back(stack.program(l), stack.schedule(l), stack.weights(l), stack.kernels(l));
    BumpAllocator<T> one_row;
    lay_out(one_row, 1);
    if (const std::int64_t numbers = one_row.used() + top_columns() + kRun * shared->input.width();
        numbers > most_numbers<T>() / rows)
      throw InputError({.op = "stream"}, Rule::no_memory,
                       text_of(numbers, " numbers of states and their past for each of ", rows,
                               " rows do not fit into half of the memory."));
    if (shared->input.is_scaled()) scaled.resize(kRun * rows * shared->input.width());
    if (shared->stack.at == ReadAt::mean) mean.emplace(rows, top_columns(), top().output.width);
    if (stack.has_final_readout())
      final_readout.emplace(stack.final_readout_program(), stack.final_readout_schedule(),
                            stack.final_readout_weights(), stack.kernels(stack.layers()));
    BumpAllocator<T> count;
    lay_out(count, rows);
    memory = allocate_aligned(static_cast<std::size_t>(count.used()) * sizeof(T));
    for (const auto& layer : shared->stack.layers)
      for (std::size_t s = 0; s < layer.states.size(); ++s)
        window_parts.push_back(state_window(layer, static_cast<int>(s), rows, dtype_of<T>));
    if (mean) window_parts.emplace_back(mean->zeros().shape(), dtype_of<T>);
    if (!shared->start.states.empty()) check_start();
    reset();
  }
  void choose_single_step() {
    if (row_program != nullptr) {
      compiled_row.emplace(row_program, layers, base());
    } else if (!mean && LinkedStep<T>::takes(shared->compiled)) {
      linked_step.emplace(shared->compiled, layers, rows);
    }
  }
  T* base() const { return reinterpret_cast<T*>(memory.get()); }

 public:
  const LayerSchedule& top() const { return layers.back().schedule(); }
  std::int64_t top_columns() const {
    const StepProgram& program = layers.back().program();
    return program.values[program.output].shape.width();
  }

  void lay_out(BumpAllocator<T>& allocator, std::int64_t of_rows) {
    Extent extent{steps, steps + (std::int64_t{1} << 40)};
    extent.run = kRun;
    extent.chunk = kStepsBetweenMoves;
    for (std::size_t l = 0; l < layers.size(); ++l)
      layers[l].lay_out(allocator, extent, of_rows, l > 0 ? &layers[l - 1] : nullptr, nullptr);
    if (final_readout) final_readout->lay_out(allocator, Extent{0, 1}, of_rows, nullptr, nullptr);
    if (mean) mean->lay_out(allocator);
    if (of_rows == 1) scratch = allocator.take(CompiledRow<T>::scratch_elements(shared->compiled));
  }

  void begin(const std::vector<Tensor>* window, std::int64_t first) {
    end_single_steps();
    steps = ready_until = first;
    BumpAllocator<T> allocator(base());
    lay_out(allocator, rows);
    std::size_t state = 0;
    for (auto& layer : layers) {
      layer.begin(window, state, 0);
      state += layer.program().states.size();
    }
    if (final_readout) final_readout->begin(nullptr, 0, 0);
    if (mean) mean->begin();
  }

  // ---- windows: the states, and the sum so far ----

  Window zero_window() const {
    Window window = lagtape::zero_window(shared->stack.layers, rows, dtype_of<T>);
    if (mean) window.states.push_back(mean->zeros());
    return window;
  }
  /// Throws InputError for a window that does not match this stream.
  void check(const Window& window) const {
    if (window.states.size() != window_parts.size())
      throw unexpected({.op = "stream"}, Rule::shape, text_of("a window of ", window_parts.size(), " states"),
                       text_of(window.states.size()));
    for (std::size_t s = 0; s < window_parts.size(); ++s) {
      const auto& [shape, dtype] = window_parts[s];
      const Tensor& state = window.states[s];
      if (!state.is(dtype, shape))
        throw wrong_tensor({.item = text_of("state ", s, " of the window"), .op = "stream"}, dtype, shape,
                           state);
    }
  }
  void check_start() const {
    Window whole = shared->start;
    if (mean) whole.states.push_back(mean->zeros());
    check(whole);
    check_grid_window("stream", shared->stack.layers, shared->start.states);
  }
  void reset() { begin(shared->start.states.empty() ? nullptr : &shared->start.states, 0); }
  void restore(const Window& window, std::int64_t first) {
    begin(&window.states, first);
    if (mean) mean->restore(window.states.back());
  }

  // ---- steps ----

  // Scaling happens outside FlushSubnormals, as for whole sequences, so that the bits are the same.
  const T* normalized(const T* input, std::int64_t count) {
    return shared->input.normalized(std::span(input, count * rows * shared->input.width()), scaled);
  }
  void restore_units(T* output, std::int64_t count) const {
    shared->output_scaling.restore(std::span(output, count * rows * out_width));
  }

  /// Prepares the runners' arrays for step `steps`.
  void end_single_steps() {
    if (compiled_row) compiled_row->end(steps);
    ready_until = steps;
  }
  void begin_single_steps() {
    end_single_steps();
    ready_until = steps + kStepsBetweenMoves;
    for (auto& layer : layers) layer.enter_forward(steps, ready_until);
    if (linked_step) linked_step->begin(steps);
    if (!compiled_row) return;
    compiled_row->begin(steps);
    if (!compiled_row->moves()) ready_until = std::numeric_limits<std::int64_t>::max();
  }

  void step(const T* input, T* output) {
    if (compiled_row && steps < ready_until) {
      compiled_row->step(steps++, shared->input.vector_of(input), output);
    } else {
      other_step(input, output);
    }
  }
  /// A separate function, to keep the code of each step small.
  [[gnu::noinline]] void other_step(const T* input, T* output) {
    if (!linked_step && !compiled_row) return run(input, output, 1);
    if (steps >= ready_until) begin_single_steps();
    if (compiled_row) return compiled_row->step(steps++, shared->input.vector_of(input), output);
    shared->input.write(input, rows, linked_step->input());
    read_output(linked_step->run(), top().output.width, output);
    ++steps;
  }

  void run(const T* input, T* output, std::int64_t count) {
    end_single_steps();
    for (auto& layer : layers) layer.enter_forward(steps, steps + count);
    ready_until = steps + count;
    for (std::int64_t t = 0; t < count; ++t)
      input = shared->input.write(input, rows, layers.front().input(steps + t));
    for (auto& layer : layers) layer.forward(steps, steps + count);
    for (std::int64_t t = 0; t < count; ++t, ++steps) {
      const T* y = layers.back().output(steps);
      output = mean ? read_mean(y, output) : read_output(y, top().output.width, output);
    }
  }

  /// Copies the rows of a step without their padding.
  T* read_output(const T* y, std::int64_t stride, T* output) const {
    for (std::int64_t r = 0; r < rows; ++r, y += stride, output += out_width)
      std::copy_n(y, out_width, output);
    return output;
  }
  T* read_mean(const T* y, T* output) {
    mean->add(y);
    if (!final_readout) {
      mean->read(steps + 1, out_width, output);
      return output + rows * out_width;
    }
    final_readout->enter_forward(0, 1);
    mean->read(steps + 1, top().output.width, final_readout->input(0));
    final_readout->forward(0, 1);
    return read_output(final_readout->output(0), final_readout->schedule().output.width, output);
  }
};

template <class T>
Stream<T>::Stream(const StackDefinition& stack, std::span<const Tensor> weights, std::int64_t rows,
                  SimdLevel level, const Tensor& table, const Normalization& normalization,
                  const Window& start)
    : Stream(stack, weights, rows, level, table, normalization, start, OperandRanges()) {}

template <class T>
Stream<T>::Stream(const StackDefinition& stack, std::span<const Tensor> weights, std::int64_t rows,
                  SimdLevel level, const Tensor& table, const Normalization& normalization,
                  const Window& start, const OperandRanges& ranges) {
  if (rows < 1) throw InputError({.op = "stream"}, Rule::out_of_range, "at least one row", text_of(rows));
  implementation_ = std::make_unique<Implementation>(
      std::make_shared<const SharedParts<T>>(stack, level, weights, table, normalization, start, ranges),
      rows, weights);
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
  return implementation_->shared->input.width();
}
template <class T>
std::int64_t Stream<T>::output_width() const {
  return implementation_->out_width;
}
template <class T>
std::int64_t Stream<T>::steps() const {
  return implementation_->steps;
}

template <class T>
bool Stream<T>::is_finite() const {
  for (const Tensor& state : window().states) {
    const bool finite = with_scalar(state.dtype(), [&]<class Number>() {
      return std::ranges::all_of(state.values<Number>(), [](Number number) { return std::isfinite(number); });
    });
    if (!finite) return false;
  }
  return true;
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
    const std::int64_t now = std::min(count, kRun);
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
OperandRanges Stream<T>::operand_ranges(const T* input, std::int64_t count) {
  const RangeObserver<T> observer(implementation_->layers, implementation_->shared->stack.layers.size());
  std::vector<T> output(static_cast<std::size_t>(count * rows() * output_width()));
  block(input, output.data(), count);
  return observer.ranges();
}

template <class T>
void Stream<T>::reset() noexcept {
  implementation_->reset();
}

template <class T>
Window Stream<T>::window() const {
  Window window = implementation_->zero_window();
  save(window);
  return window;
}

template <class T>
void Stream<T>::save(Window& window) const {
  implementation_->check(window);
  implementation_->end_single_steps();
  std::size_t index = 0;
  for (const auto& layer : implementation_->layers)
    for (std::size_t s = 0; s < layer.program().states.size(); ++s, ++index)
      for (std::int64_t r = 0; r < rows(); ++r)
        layer.states().write(static_cast<int>(s), steps(), r, window.states[index], r, RowResets<T>::kNever);
  if (implementation_->mean) implementation_->mean->save(window.states.back());
}

template <class T>
void Stream<T>::restore(const Window& window, std::int64_t steps) {
  implementation_->check(window);
  if (steps < 0 || steps > kMostSteps)
    throw InputError({.op = "stream"}, Rule::out_of_range, "steps from 0 to 2^62", text_of(steps));
  check_grid_window("stream", implementation_->shared->stack.layers, window.states);
  implementation_->restore(window, steps);
}

template class Stream<float>;
template class Stream<double>;

}  // namespace lagtape
