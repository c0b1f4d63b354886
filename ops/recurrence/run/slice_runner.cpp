#include "lagtape/ops/recurrence/run/slice_runner.h"

#include <algorithm>
#include <utility>

#include "lagtape/ops/recurrence/memory/revolve.h"

namespace lagtape::recurrence {

namespace {

template <class T>
std::deque<LayerRunner<T>> runners_of(const CompiledStack<T>& stack) {
  std::deque<LayerRunner<T>> layers;
  for (std::size_t l = 0; l < stack.layers(); ++l)
    layers.emplace_back(stack.program(l), stack.schedule(l), stack.weights(l), stack.kernels(l));
  return layers;
}

std::int64_t interval_count(const Extent& extent) {
  if (extent.checkpoint_interval == 0) return 1;
  return (extent.last - 1) / extent.checkpoint_interval - extent.first / extent.checkpoint_interval + 1;
}

}  // namespace

template <class T>
SliceRunner<T>::SliceRunner(const CompiledStack<T>& stack)
    : stack_(stack), layers_(runners_of(stack)), readout_(stack, layers_.back()) {}

// ---- memory ----

template <class T>
void SliceRunner<T>::lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows) {
  extent_ = extent;
  for (std::size_t l = 0; l < layers_.size(); ++l)
    layers_[l].lay_out(memory, extent, rows, l > 0 ? &layers_[l - 1] : nullptr,
                       l + 1 < layers_.size() ? &layers_[l + 1] : nullptr);
  intervals_ = interval_count(extent);
  first_checkpoints_ = first_checkpoints(intervals_, extent.slots);
  checkpoint_elements_ = 0;
  for (const auto& layer : layers_) checkpoint_elements_ += layer.states().window_elements();
  checkpoints_ = memory.take(std::min(extent.slots, intervals_) * checkpoint_elements_);
  readout_.lay_out(memory, extent, rows);
}

template <class T>
std::int64_t SliceRunner<T>::elements(const Extent& extent, std::int64_t rows) {
  BumpAllocator<T> count;
  lay_out(count, extent, rows);
  return count.used();
}

// ---- the walk over chunks ----

template <class T>
template <class F>
void SliceRunner<T>::for_chunks(std::int64_t first, std::int64_t last, bool descending, F f) {
  const std::int64_t chunk = extent_.chunk;
  const std::int64_t low = first / chunk, high = (last + chunk - 1) / chunk;
  for (std::int64_t i = 0; i < high - low; ++i) {
    const std::int64_t c = descending ? high - 1 - i : low + i;
    f(std::max(first, c * chunk), std::min(last, (c + 1) * chunk));
  }
}

/// The first step of checkpoint interval i. Intervals start at multiples of their length; the first and last
/// may be shorter.
template <class T>
std::int64_t SliceRunner<T>::interval_begin(std::int64_t i) const {
  if (i <= 0 || extent_.checkpoint_interval == 0) return i <= 0 ? extent_.first : extent_.last;
  return std::min(extent_.last,
                  (extent_.first / extent_.checkpoint_interval + i) * extent_.checkpoint_interval);
}

template <class T>
void SliceRunner<T>::run(const PreparedRequest& request, Slice<T>& slice, const Extent& extent, T* memory) {
  forward(request, slice, extent, memory);
  if (request.backward.wanted()) backward();
  slice.loss = readout_.loss();
}

template <class T>
void SliceRunner<T>::forward(const PreparedRequest& request, Slice<T>& slice, const Extent& extent,
                             T* memory) {
  BumpAllocator<T> allocator(memory);
  lay_out(allocator, extent, slice.rows);
  rows_ = {&request, &slice, extent};
  begin();
  forward_pass();
  readout_.end_forward();
}

template <class T>
void SliceRunner<T>::backward() {
  readout_.begin_backward();
  backward_pass();
}

template <class T>
void SliceRunner<T>::begin() {
  DrawContext draws{request().batch.training, request().batch.draws.seed, request().batch.draws.epoch,
                    request().sequences.data() + rows_.slice->row0, 0};
  std::size_t state = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    begin_layer(l, state, draws);
    ++draws.layer;
    state += stack_.window_states(l);
  }
  readout_.begin(rows_, draws);
}

template <class T>
const Tensor* SliceRunner<T>::resets_in_window(std::size_t l, std::size_t state) const {
  const std::size_t states = layers_[l].program().states.size();
  const bool counts = request().initial != nullptr && states < stack_.window_states(l);
  return counts ? &(*request().initial)[state + states] : nullptr;
}

/// `state`: the first of its states in windows.
template <class T>
void SliceRunner<T>::begin_layer(std::size_t l, std::size_t state, const DrawContext& draws) {
  LayerRunner<T>& layer = layers_[l];
  const std::int64_t row0 = rows_.slice->row0, steps = request().batch.x.size(1);
  layer.set_draws(draws);
  layer.set_lengths(request().lengths.empty() ? nullptr : request().lengths.data() + row0);
  layer.begin(request().initial, state, row0);
  if (const Tensor* count = resets_in_window(l, state); count != nullptr)
    layer.states().hide_in_window(*count, row0);
  const std::span<const std::uint8_t> resets = request().resets;
  layer.set_resets(resets.empty() ? nullptr : resets.data() + row0 * steps, steps, stack_.reset_column(l));
}

template <class T>
void SliceRunner<T>::enter_forward(std::int64_t n0, std::int64_t n1) {
  for (auto& layer : layers_) layer.enter_forward(n0, n1);
  fill_input(n0, n1);
}

template <class T>
void SliceRunner<T>::enter_backward(std::int64_t n0, std::int64_t n1) {
  for (auto& layer : layers_) layer.enter_backward(n0, n1);
  fill_input(n0, n1);
}

template <class T>
void SliceRunner<T>::forward_chunk(std::int64_t n0, std::int64_t n1) {
  enter_forward(n0, n1);
  for (auto& layer : layers_) layer.forward(n0, n1);
}

template <class T>
void SliceRunner<T>::forward_pass() {
  std::size_t kept = 0;
  for (std::int64_t s = 0; s < intervals_; ++s) {
    enter_interval(s);
    if (kept < first_checkpoints_.size() && s == first_checkpoints_[kept])
      save_checkpoint(static_cast<std::int64_t>(kept++), s);
    for_chunks(interval_begin(s), interval_begin(s + 1), false, [&](std::int64_t n0, std::int64_t n1) {
      forward_chunk(n0, n1);
      if (request().final_window != nullptr) write_final_window(n0, n1);
      readout_.forward(n0, n1);
    });
  }
}

template <class T>
void SliceRunner<T>::enter_interval(std::int64_t s) {
  for (auto& layer : layers_) layer.enter_interval(interval_begin(s));
}

/// The only backward walker: plans differ in where a chunk's states and saved values come from.
template <class T>
void SliceRunner<T>::backward_pass() {
  std::size_t state = 0;
  for (std::size_t l = 0; l < layers_.size(); state += stack_.window_states(l++))
    layers_[l].begin_backward(request().backward.final_gradient, state, rows_.slice->row0);
  backward_intervals();
  if (request().backward.initial_gradient != nullptr) write_initial_gradient();
}

/// Walks back over all intervals, from one checkpoint to the previous. The last of `walks_` is the current one:
/// intervals low .. high - 1 after the checkpoint of `low`, with the slots after its own free. `first`: the
/// arrays hold the last checkpoint interval, and the first checkpoints are kept.
template <class T>
void SliceRunner<T>::backward_intervals() {
  walks_.assign(1, {.low = 0, .high = intervals_, .first = true});
  while (!walks_.empty()) {
    Walk& walk = walks_.back();
    if (walk.high == walk.low) {
      walks_.pop_back();
      continue;
    }
    const std::int64_t slot = std::ssize(walks_) - 1, free = extent_.slots - 1 - slot;
    const bool first = std::exchange(walk.first, false);
    const bool one_by_one = walk.high - walk.low == 1 || free == 0;
    const std::int64_t high = walk.high;
    const std::int64_t middle = one_by_one ? high : walk.low + cut(high - walk.low, free, first);
    if (!first) {
      restore_checkpoint(slot, walk.low);
      run_again(walk.low, middle);
    }
    if (one_by_one) {
      walk.high = high - 1;
      for_chunks(interval_begin(walk.high), interval_begin(high), true,
                 [&](std::int64_t n0, std::int64_t n1) { backward_chunk(n0, n1); });
      continue;
    }
    if (!first) {
      enter_interval(middle);
      save_checkpoint(slot + 1, middle);
    }
    walk.high = middle;
    walks_.push_back({.low = middle, .high = high, .first = first});
  }
}

template <class T>
void SliceRunner<T>::run_again(std::int64_t low, std::int64_t high) {
  for (std::int64_t s = low; s < high; ++s) {
    enter_interval(s);
    for_chunks(interval_begin(s), interval_begin(s + 1), false,
               [&](std::int64_t n0, std::int64_t n1) { forward_chunk(n0, n1); });
  }
}

template <class T>
void SliceRunner<T>::save_checkpoint(std::int64_t slot, std::int64_t s) {
  T* to = checkpoints_ + slot * checkpoint_elements_;
  for (const auto& layer : layers_) to = layer.states().save(interval_begin(s), to);
}

template <class T>
void SliceRunner<T>::restore_checkpoint(std::int64_t slot, std::int64_t s) {
  const T* from = checkpoints_ + slot * checkpoint_elements_;
  for (auto& layer : layers_) from = layer.states().restore(interval_begin(s), from);
}

template <class T>
void SliceRunner<T>::backward_chunk(std::int64_t n0, std::int64_t n1) {
  enter_backward(n0, n1);
  for (auto& layer : layers_) {
    if (extent_.undo) layer.undo(n0, n1);
    if (!extent_.undo && !extent_.keep_saved) layer.replay(n0, n1);
  }
  readout_.backward(n0, n1);
  std::size_t weight = rows_.slice->gradients.size();
  if (stack_.has_final_readout()) weight -= stack_.final_readout_program().weights.size();
  for (std::size_t l = layers_.size(); l-- > 0;) {
    weight -= layers_[l].program().weights.size();
    layers_[l].backward(n0, n1, rows_.slice->gradients.data() + weight, request().backward.large_product);
  }
  if (request().backward.x_gradient != nullptr) write_input_gradient(n0, n1);
}

// ---- inputs ----

template <class T>
void SliceRunner<T>::fill_input(std::int64_t n0, std::int64_t n1) {
  const Tensor& x = request().batch.x;
  const std::int64_t total = x.shape()[1], width = x.shape()[2], stride = padded<T>(width);
  for (std::int64_t r = 0; r < rows_.count(); ++r) {
    const T* from = x.values<T>().data() + ((rows_.slice->row0 + r) * total + n0 - extent_.first) * width;
    T* to = layers_.front().input(n0) + r * stride;
    const std::int64_t end = std::clamp(extent_.first + rows_.length(r), n0, n1);
    for (std::int64_t n = n0; n < end; ++n, from += width, to += rows_.count() * stride)
      for (std::int64_t j = 0; j < width; ++j) to[j] = from[j];
    for (std::int64_t n = end; n < n1; ++n, to += rows_.count() * stride) std::fill_n(to, width, T(0));
  }
}

// ---- results other than weight gradients ----

/// The windows of the rows that end in this chunk, each at its own last step.
template <class T>
void SliceRunner<T>::write_final_window(std::int64_t n0, std::int64_t n1) {
  std::size_t first = 0;
  for (std::size_t l = 0; l < layers_.size(); first += stack_.window_states(l++)) {
    const LayerRunner<T>& layer = layers_[l];
    for (std::int64_t r = 0; r < rows_.count(); ++r) {
      const std::int64_t end = extent_.first + rows_.length(r);
      if (end <= n0 || end > n1) continue;
      for (std::size_t s = 0; s < layer.program().states.size(); ++s)
        layer.states().write(static_cast<int>(s), end, r, request().final_window->states[first + s],
                             rows_.slice->row0 + r, layer.resets().last_of(r));
    }
  }
}

template <class T>
void SliceRunner<T>::write_initial_gradient() {
  std::size_t first = 0;
  for (std::size_t l = 0; l < layers_.size(); first += stack_.window_states(l++)) {
    LayerRunner<T>& layer = layers_[l];
    layer.end_backward();
    const Tensor* count = resets_in_window(l, first);
    for (std::size_t s = 0; s < layer.program().states.size(); ++s) {
      Tensor& to = (*request().backward.initial_gradient)[first + s];
      const std::int64_t history = layer.program().history(static_cast<int>(s));
      const std::int64_t width = layer.program().states[s].shape.width(), batch = to.shape()[1];
      scratch_.resize(static_cast<std::size_t>(rows_.count() * padded<T>(width)));
      for (std::int64_t j = 0; j <= history; ++j) {
        layer.initial_adjoint(static_cast<int>(s), extent_.first - history + j, scratch_.data());
        with_scalar(to.dtype(), [&]<class State>() {
          for (std::int64_t r = 0; r < rows_.count(); ++r)
            if (count == nullptr || !LayerStates<T>::is_hidden(*count, rows_.slice->row0 + r, history - j))
              std::copy_n(scratch_.data() + r * padded<T>(width), width,
                          to.values<State>().data() + (j * batch + rows_.slice->row0 + r) * width);
        });
      }
    }
  }
}

template <class T>
void SliceRunner<T>::write_input_gradient(std::int64_t n0, std::int64_t n1) {
  const Shape& shape = request().backward.x_gradient->shape();
  const std::int64_t total = shape[1], width = shape[2];
  T* values = request().backward.x_gradient->template values<T>().data();
  for (std::int64_t n = n0; n < n1; ++n)
    for (std::int64_t r = 0; r < rows_.count(); ++r)
      std::copy_n(layers_.front().input_adjoint(n) + r * padded<T>(width), width,
                  values + ((rows_.slice->row0 + r) * total + n - extent_.first) * width);
}

template class SliceRunner<float>;
template class SliceRunner<double>;

}  // namespace lagtape::recurrence
