#include "lagtape/ops/recurrence/slice_runner.h"

#include <algorithm>

#include "lagtape/ops/loss_rows.h"
#include "lagtape/ops/recurrence/revolve.h"

namespace lagtape::recurrence {

template <class T>
SliceRunner<T>::SliceRunner(const CompiledStack<T>& stack) : stack_(stack) {
  for (std::size_t l = 0; l < stack.layers(); ++l)
    layers_.emplace_back(stack.program(l), stack.code(l), stack.weights(l), stack.kernels());
  if (stack.has_head())
    head_.emplace(stack.head_program(), stack.head_code(), stack.head_weights(), stack.kernels());
}

namespace {

std::int64_t segment_count(const Extent& extent) {
  if (extent.segment == 0) return 1;
  return (extent.last - 1) / extent.segment - extent.first / extent.segment + 1;
}

}  // namespace

// ---- memory ----

template <class T>
void SliceRunner<T>::lay_out(Carver<T>& memory, const Extent& extent, std::int64_t rows) {
  extent_ = extent;
  for (std::size_t l = 0; l < layers_.size(); ++l)
    layers_[l].lay_out(memory, extent, rows, l > 0 ? &layers_[l - 1] : nullptr,
                       l + 1 < layers_.size() ? &layers_[l + 1] : nullptr);
  segments_ = segment_count(extent);
  first_checkpoints_ = first_checkpoints(segments_, extent.slots);
  checkpoint_elements_ = 0;
  for (const auto& layer : layers_) checkpoint_elements_ += layer.window_elements();
  checkpoints_ = memory.take(std::min(extent.slots, segments_) * checkpoint_elements_);
  const std::int64_t width = padded<T>(top().code().output.width);
  features_ = feature_adjoint_ = nullptr;
  if (head_) {
    Extent once{0, 1};
    once.backward = extent.backward;
    head_->lay_out(memory, once, rows, nullptr, nullptr);
    features_ = head_->input(0);
    if (extent.backward) feature_adjoint_ = head_->input_adjoint(0);
  } else if (!every_step()) {
    features_ = memory.take(rows * width);
    if (extent.backward) feature_adjoint_ = memory.take(rows * width);
  }
}

template <class T>
std::int64_t SliceRunner<T>::elements(const Extent& extent, std::int64_t rows) {
  Carver<T> count;
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

/// Segments lie on the absolute grid; the first and the last may be shorter.
template <class T>
std::int64_t SliceRunner<T>::segment_begin(std::int64_t i) const {
  if (i <= 0 || extent_.segment == 0) return i <= 0 ? extent_.first : extent_.last;
  return std::min(extent_.last, (extent_.first / extent_.segment + i) * extent_.segment);
}

template <class T>
void SliceRunner<T>::run(const BatchTask<T>& task, Slice<T>& slice, const Extent& extent, T* memory) {
  task_ = &task;
  slice_ = &slice;
  slice.loss = 0;
  Carver<T> carver(memory);
  lay_out(carver, extent, slice.rows);
  begin();
  forward_pass();
  if (!every_step()) head_pass();
  if (task.backward) backward_pass();
  for (double loss : run_losses_) slice.loss += loss;
}

template <class T>
void SliceRunner<T>::begin() {
  run_losses_.assign(every_step() ? static_cast<std::size_t>((extent_.last - 1) / extent_.run -
                                                             extent_.first / extent_.run + 1)
                                  : 1,
                     0.0);
  DrawContext draws{task_->batch->training, task_->batch->draws.seed, task_->batch->draws.epoch,
                    task_->sequences.data() + slice_->row0, 0};
  std::size_t state = 0;
  for (auto& layer : layers_) {
    layer.set_draws(draws);
    ++draws.layer;
    layer.set_lengths(task_->lengths.empty() ? nullptr : task_->lengths.data() + slice_->row0);
    layer.begin(task_->initial, state, slice_->row0);
    state += layer.program().states.size();
  }
  if (head_) {
    head_->set_draws(draws);
    head_->set_lengths(nullptr);
    head_->begin(nullptr, 0, 0);
  }
  if (!every_step()) std::fill_n(features_, slice_->rows * padded<T>(top().code().output.width), T(0));
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
  for (std::int64_t s = 0; s < segments_; ++s) {
    enter_segment(s);
    if (kept < first_checkpoints_.size() && s == first_checkpoints_[kept])
      save_checkpoint(static_cast<std::int64_t>(kept++), s);
    for_chunks(segment_begin(s), segment_begin(s + 1), false, [&](std::int64_t n0, std::int64_t n1) {
      forward_chunk(n0, n1);
      if (task_->final_window != nullptr) write_final_window(n0, n1);
      if (!every_step()) return gather_features(n0, n1);
      if (task_->outputs != nullptr) read_outputs(n0, n1);
      if (task_->loss_scale > 0 && !task_->backward) score(n0, n1, false);
    });
  }
}

template <class T>
void SliceRunner<T>::enter_segment(std::int64_t s) {
  for (auto& layer : layers_) layer.enter_segment(segment_begin(s));
}

/// The one backward walker: a plan differs in where a chunk's states and saved values come from.
template <class T>
void SliceRunner<T>::backward_pass() {
  for (auto& layer : layers_) layer.begin_backward();
  backward_segments(0, segments_, 0, true);
  if (task_->initial_gradient != nullptr) write_initial_gradient();
}

/// Walks back over segments low .. high - 1 from the checkpoint of `low` in a slot, with those behind it
/// free. `first`: the arrays hold the last segment, and the first checkpoints are kept.
template <class T>
void SliceRunner<T>::backward_segments(std::int64_t low, std::int64_t high, std::int64_t slot, bool first) {
  const std::int64_t free = extent_.slots - 1 - slot;
  while (high > low) {
    const bool one_by_one = high - low == 1 || free == 0;
    const std::int64_t middle = one_by_one ? high : low + cut(high - low, free, first);
    if (!first) {
      restore_checkpoint(slot, low);
      run_again(low, middle);
    }
    if (one_by_one) {
      --high;
      for_chunks(segment_begin(high), segment_begin(high + 1), true,
                 [&](std::int64_t n0, std::int64_t n1) { backward_chunk(n0, n1); });
    } else {
      if (!first) {
        enter_segment(middle);
        save_checkpoint(slot + 1, middle);
      }
      backward_segments(middle, high, slot + 1, first);
      high = middle;
    }
    first = false;
  }
}

template <class T>
void SliceRunner<T>::run_again(std::int64_t low, std::int64_t high) {
  for (std::int64_t s = low; s < high; ++s) {
    enter_segment(s);
    for_chunks(segment_begin(s), segment_begin(s + 1), false,
               [&](std::int64_t n0, std::int64_t n1) { forward_chunk(n0, n1); });
  }
}

template <class T>
void SliceRunner<T>::save_checkpoint(std::int64_t slot, std::int64_t s) {
  T* to = checkpoints_ + slot * checkpoint_elements_;
  for (const auto& layer : layers_) to = layer.save_window(segment_begin(s), to);
}

template <class T>
void SliceRunner<T>::restore_checkpoint(std::int64_t slot, std::int64_t s) {
  const T* from = checkpoints_ + slot * checkpoint_elements_;
  for (auto& layer : layers_) from = layer.restore_window(segment_begin(s), from);
}

template <class T>
void SliceRunner<T>::backward_chunk(std::int64_t n0, std::int64_t n1) {
  enter_backward(n0, n1);
  for (auto& layer : layers_) {
    if (extent_.undo) layer.undo(n0, n1);
    if (!extent_.undo && !extent_.keep_saved) layer.replay(n0, n1);
  }
  if (every_step()) {
    score(n0, n1, true);
  } else {
    spread_feature_adjoint(n0, n1);
  }
  std::size_t weight = slice_->gradients.size();
  if (head_) weight -= stack_.head_program().weights.size();
  for (std::size_t l = layers_.size(); l-- > 0;) {
    weight -= layers_[l].program().weights.size();
    layers_[l].backward(n0, n1, slice_->gradients.data() + weight, task_->add_weight_gradient);
  }
  if (task_->x_gradient != nullptr) write_input_gradient(n0, n1);
}

// ---- what goes in ----

template <class T>
void SliceRunner<T>::fill_input(std::int64_t n0, std::int64_t n1) {
  const Tensor& x = task_->batch->x;
  const std::int64_t total = x.shape()[1], width = x.shape()[2], stride = padded<T>(width);
  for (std::int64_t r = 0; r < slice_->rows; ++r) {
    const T* from = x.values<T>().data() + ((slice_->row0 + r) * total + n0 - extent_.first) * width;
    T* to = layers_.front().input(n0) + r * stride;
    const std::int64_t end = std::clamp(extent_.first + length(r), n0, n1);
    for (std::int64_t n = n0; n < end; ++n, from += width, to += slice_->rows * stride)
      for (std::int64_t j = 0; j < width; ++j) to[j] = from[j];
    for (std::int64_t n = end; n < n1; ++n, to += slice_->rows * stride) std::fill_n(to, width, T(0));
  }
}

// ---- the read-out that reads once ----

template <class T>
void SliceRunner<T>::gather_features(std::int64_t n0, std::int64_t n1) {
  const std::int64_t width = top().code().output.width;
  const bool mean = definition().at == ReadAt::mean;
  for (std::int64_t n = n0; n < n1; ++n) {
    const T* out = top().output(n);
    for (std::int64_t r = 0; r < slice_->rows; ++r) {
      T* to = features_ + r * width;
      const std::int64_t t = n - extent_.first;
      if (mean && t < length(r)) {
        for (std::int64_t j = 0; j < width; ++j) to[j] += out[r * width + j];
        if (t + 1 == length(r))
          for (std::int64_t j = 0; j < width; ++j) to[j] /= static_cast<T>(length(r));
      } else if (!mean && t + 1 == length(r)) {
        std::copy_n(out + r * width, width, to);
      }
    }
  }
}

template <class T>
void SliceRunner<T>::spread_feature_adjoint(std::int64_t n0, std::int64_t n1) {
  const std::int64_t width = top().code().output.width;
  const bool mean = definition().at == ReadAt::mean;
  for (std::int64_t n = n0; n < n1; ++n) {
    T* to = top().output_adjoint(n);
    for (std::int64_t r = 0; r < slice_->rows; ++r, to += width) {
      const std::int64_t t = n - extent_.first;
      const T* from = feature_adjoint_ + r * width;
      if (mean && t < length(r)) {
        for (std::int64_t j = 0; j < width; ++j) to[j] = from[j] / static_cast<T>(length(r));
      } else if (!mean && t + 1 == length(r)) {
        std::copy_n(from, width, to);
      } else {
        std::fill_n(to, width, T(0));
      }
    }
  }
}

template <class T>
void SliceRunner<T>::head_pass() {
  if (head_) {
    head_->enter_forward(0, 1);
    head_->forward(0, 1);
  }
  const std::int64_t stride = head_ ? head_->code().output.width : top().code().output.width;
  const std::int64_t width = definition().output_width();
  const T* y = head_ ? head_->output(0) : features_;
  if (task_->outputs != nullptr)
    for (std::int64_t r = 0; r < slice_->rows; ++r)
      std::copy_n(y + r * stride, width,
                  task_->outputs->template values<T>().data() + (slice_->row0 + r) * width);
  if (!task_->backward && task_->loss_scale == 0) return;
  if (task_->backward && head_) {
    head_->begin_backward();
    head_->enter_backward(0, 1);
  }
  T* gradient = !task_->backward ? nullptr : head_ ? head_->output_adjoint(0) : feature_adjoint_;
  with_loss([&](auto loss_of) {
    for (std::int64_t r = 0; r < slice_->rows; ++r)
      run_losses_[0] +=
          loss_of(y + r * stride, slice_->row0 + r, gradient == nullptr ? nullptr : gradient + r * stride);
  });
  if (task_->backward && head_)
    head_->backward(
        0, 1, slice_->gradients.data() + slice_->gradients.size() - stack_.head_program().weights.size(),
        task_->add_weight_gradient);
}

// ---- outputs and losses ----

template <class T>
void SliceRunner<T>::read_outputs(std::int64_t n0, std::int64_t n1) {
  const std::int64_t width = definition().output_width(), stride = top().code().output.width;
  const std::int64_t total = task_->outputs->shape()[1];
  T* values = task_->outputs->template values<T>().data();
  for (std::int64_t n = n0; n < n1; ++n)
    for (std::int64_t r = 0; r < slice_->rows; ++r)
      if (counts(r, n))
        std::copy_n(top().output(n) + r * stride, width,
                    values + ((slice_->row0 + r) * total + n - extent_.first) * width);
}

/// f(loss_of), where loss_of(y, place, gradient) is the loss of one row of the read-out, and its gradient;
/// `place` is where its target stands.
template <class T>
template <class F>
void SliceRunner<T>::with_loss(F f) const {
  const std::int64_t width = definition().output_width();
  const double scale = task_->loss_scale;
  if (task_->output_gradient != nullptr) {
    const T* given = task_->output_gradient->template values<T>().data();
    return f([=](const T*, std::int64_t place, T* gradient) {
      std::copy_n(given + place * width, width, gradient);
      return 0.0;
    });
  }
  const SequenceBatch& batch = *task_->batch;
  switch (definition().loss) {
    case Loss::mse: {
      const T* targets = batch.targets.values<T>().data();
      return f([=](const T* y, std::int64_t place, T* gradient) {
        return mse_row(y, targets + place * width, width, scale, gradient);
      });
    }
    case Loss::cross_entropy: {
      const std::int32_t* classes = batch.classes.data();
      return f([=](const T* y, std::int64_t place, T* gradient) {
        return cross_entropy_row(y, width, classes[place], scale, gradient);
      });
    }
    case Loss::binary_cross_entropy: {
      const T* targets = batch.targets.values<T>().data();
      return f([=](const T* y, std::int64_t place, T* gradient) {
        return binary_cross_entropy_row(y, targets[place] != 0 ? 1 : 0, scale, gradient);
      });
    }
    case Loss::none:
      return f([=](const T*, std::int64_t, T* gradient) {
        if (gradient != nullptr) std::fill_n(gradient, width, T(0));
        return 0.0;
      });
  }
}

template <class T>
void SliceRunner<T>::score(std::int64_t n0, std::int64_t n1, bool gradient) {
  const std::int64_t stride = top().code().output.width, width = definition().output_width();
  const std::int64_t total = task_->batch->x.shape()[1];
  with_loss([&](auto loss_of) {
    for (std::int64_t n = n0; n < n1; ++n) {
      const T* y = top().output(n);
      T* d = gradient ? top().output_adjoint(n) : nullptr;
      double loss = run_losses_[n / extent_.run - extent_.first / extent_.run];
      for (std::int64_t r = 0; r < slice_->rows; ++r) {
        T* dr = gradient ? d + r * stride : nullptr;
        if (counts(r, n)) {
          loss += loss_of(y + r * stride, (slice_->row0 + r) * total + n - extent_.first, dr);
        } else if (gradient) {
          std::fill_n(dr, width, T(0));
        }
      }
      run_losses_[n / extent_.run - extent_.first / extent_.run] = loss;
    }
  });
}

// ---- what comes out beside the weights' gradients ----

/// The windows of the rows that end in this chunk, each at its own last step.
template <class T>
void SliceRunner<T>::write_final_window(std::int64_t n0, std::int64_t n1) {
  std::size_t index = 0;
  for (auto& layer : layers_)
    for (std::size_t s = 0; s < layer.program().states.size(); ++s, ++index) {
      Tensor& to = task_->final_window->states[index];
      for (std::int64_t r = 0; r < slice_->rows; ++r) {
        const std::int64_t end = extent_.first + length(r);
        if (end > n0 && end <= n1) layer.write_window(static_cast<int>(s), end, r, to, slice_->row0 + r);
      }
    }
}

template <class T>
void SliceRunner<T>::write_initial_gradient() {
  std::size_t index = 0;
  for (auto& layer : layers_) {
    layer.end_backward();
    for (std::size_t s = 0; s < layer.program().states.size(); ++s, ++index) {
      Tensor& to = (*task_->initial_gradient)[index];
      const std::int64_t history = layer.program().history(static_cast<int>(s));
      const std::int64_t width = layer.program().states[s].shape.width(), batch = to.shape()[1];
      scratch_.resize(static_cast<std::size_t>(slice_->rows * padded<T>(width)));
      for (std::int64_t j = 0; j <= history; ++j) {
        layer.initial_adjoint(static_cast<int>(s), extent_.first - history + j, scratch_.data());
        with_scalar(to.dtype(), [&]<class State>() {
          for (std::int64_t r = 0; r < slice_->rows; ++r)
            std::copy_n(scratch_.data() + r * padded<T>(width), width,
                        to.values<State>().data() + (j * batch + slice_->row0 + r) * width);
        });
      }
    }
  }
}

template <class T>
void SliceRunner<T>::write_input_gradient(std::int64_t n0, std::int64_t n1) {
  const Shape& shape = task_->x_gradient->shape();
  const std::int64_t total = shape[1], width = shape[2];
  T* values = task_->x_gradient->template values<T>().data();
  for (std::int64_t n = n0; n < n1; ++n)
    for (std::int64_t r = 0; r < slice_->rows; ++r)
      std::copy_n(layers_.front().input_adjoint(n) + r * padded<T>(width), width,
                  values + ((slice_->row0 + r) * total + n - extent_.first) * width);
}

template class SliceRunner<float>;
template class SliceRunner<double>;

}  // namespace lagtape::recurrence
