#include "lagtape/ops/recurrence/run/layer_runner.h"

#include <algorithm>
#include <cstring>

namespace lagtape::recurrence {

template <class T>
LayerRunner<T>::LayerRunner(const StepProgram& program, const LayerSchedule& schedule,
                            const LayerWeights<T>& weights, const Kernels<T>& kernels)
    : program_(program),
      schedule_(schedule),
      kernels_(kernels),
      interpreter_(program, schedule, weights, kernels),
      states_(program, schedule, interpreter_),
      resets_(program, schedule, interpreter_),
      final_gradient_(program, schedule) {
  std::int64_t groups = 0;
  for (const auto& g : schedule.matrix_gradients) groups += g.groups;
  products_.reserve(static_cast<std::size_t>(groups));
  sums_.reserve(schedule.narrow_gradients.size());
}

// ---- memory ----

/// The number of steps that an array holds; 0 if another runner owns it.
template <class T>
std::int64_t LayerRunner<T>::capacity(const Array& array) const {
  if (array.kind == Array::Kind::input && below_ != nullptr) return 0;
  if (array.kind == Array::Kind::output_adjoint && above_ != nullptr) return 0;
  const std::int64_t steps = steps_held(array, program_, schedule_, extent_);
  return array.kind == Array::Kind::grid ? steps * kDoubleWidth<T> : steps;
}

template <class T>
void LayerRunner<T>::lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows,
                             LayerRunner* below, LayerRunner* above) {
  extent_ = extent;
  rows_ = rows;
  below_ = below;
  above_ = above;
  interpreter_.set_rows(rows);
  states_.set_rows(rows);
  interpreter_.set_once(memory.take(interpreter_.once_elements()));
  interpreter_.set_tile(memory.take(schedule_.largest_tile));
  interpreter_.set_group_scratch(
      memory.take(schedule_.group_columns * rows * std::min(extent.run, extent.last - extent.first)));
  capacities_.resize(schedule_.arrays.size());
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    const Array& array = schedule_.arrays[i];
    capacities_[i] = capacity(array);
    const std::int64_t block = space_of<T>(rows * padded<T>(array.width), array.rounded);
    const bool one_step = array.kind == Array::Kind::step || array.kind == Array::Kind::direct;
    const std::int64_t stride = one_step || array.kind == Array::Kind::grid ? 0 : block;
    interpreter_.array(static_cast<int>(i)) = {memory.take(capacities_[i] * block), extent.first, stride};
  }
}

/// The layer below has moved its arrays: our input is its output, and our input's adjoint is its output's
/// adjoint.
template <class T>
void LayerRunner<T>::share_input() {
  if (below_ == nullptr) return;
  const Operand& operand = below_->schedule_.output;
  ArrayView<T> view = below_->interpreter_.array(operand.index);
  view.first -= operand.step;
  interpreter_.array(schedule_.input_array) = view;
  if (extent_.backward)
    below_->interpreter_.array(below_->schedule_.output_adjoint_array) =
        interpreter_.array(schedule_.input_adjoint_array);
}

template <class T>
void LayerRunner<T>::begin(const std::vector<Tensor>* window, std::size_t first_state, std::int64_t row0) {
  interpreter_.draw_once();
  states_.begin(extent_.first, extent_.last - extent_.first, window, first_state, row0);
}

// ---- forward ----

/// Calls f with the runs of [n0, n1), which also end where rows reset.
template <class T>
template <class F>
void LayerRunner<T>::for_runs(std::int64_t n0, std::int64_t n1, bool descending, F f) {
  const std::int64_t run = extent_.run;
  if (!descending) {
    for (std::int64_t r0 = n0; r0 < n1;) {
      const std::int64_t r1 = resets_.end_of_range(r0, std::min(n1, (r0 / run + 1) * run));
      enter_run(r0);
      resets_.enter(r0);
      f(r0, r1);
      r0 = r1;
    }
  } else {
    for (std::int64_t r1 = n1; r1 > n0;) {
      const std::int64_t r0 = resets_.begin_of_range(r1, std::max(n0, (r1 - 1) / run * run));
      enter_run(r0);
      resets_.enter(r0);
      f(r0, r1);
      r1 = r0;
    }
  }
}

/// The same, with states from before resets read as zeros.
template <class T>
template <class F>
void LayerRunner<T>::for_shown_runs(std::int64_t n0, std::int64_t n1, bool descending, F f) {
  for_runs(n0, n1, descending, [&](std::int64_t r0, std::int64_t r1) {
    resets_.hide(r0, r1);
    f(r0, r1);
    resets_.show();
  });
}

template <class T>
void LayerRunner<T>::enter_run(std::int64_t n) {
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i)
    if (schedule_.arrays[i].kind == Array::Kind::run) interpreter_.array(static_cast<int>(i)).first = n;
}

template <class T>
void LayerRunner<T>::enter_interval(std::int64_t n) {
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    const Array::Kind kind = schedule_.arrays[i].kind;
    if (kind == Array::Kind::state && extent_.keep_states) states_.slide(i, n);
    if (kind == Array::Kind::saved && extent_.keep_saved) interpreter_.array(static_cast<int>(i)).first = n;
  }
}

template <class T>
void LayerRunner<T>::enter_forward(std::int64_t n0, std::int64_t n1) {
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    ArrayView<T>& view = interpreter_.array(static_cast<int>(i));
    const Array& array = schedule_.arrays[i];
    if (array.kind == Array::Kind::state && n1 + 1 - view.first > capacities_[i]) states_.slide(i, n0);
    if (array.kind == Array::Kind::saved && !extent_.keep_saved) view.first = n0;
    if (array.kind == Array::Kind::input && below_ == nullptr) view.first = n0;
  }
  share_input();
}

template <class T>
void LayerRunner<T>::forward(std::int64_t n0, std::int64_t n1) {
  resets_.find(n0, n1);
  for_shown_runs(n0, n1, false, [&](std::int64_t r0, std::int64_t r1) {
    resets_.clear_grid(r0);
    interpreter_.run(schedule_.forward.before, r0, r1 - r0);
    const std::int64_t block = schedule_.block > 0 ? schedule_.block : r1 - r0;
    for (std::int64_t b0 = r0; b0 < r1; b0 += block) {
      const std::int64_t b1 = std::min(r1, b0 + block);
      interpreter_.run(schedule_.forward.block, b0, b1 - b0);
      for (std::int64_t n = b0; n < b1; ++n) {
        interpreter_.run(schedule_.forward.step, n, 1);
        states_.freeze_finished(n);
      }
    }
    interpreter_.run(schedule_.forward.after, r0, r1 - r0);
  });
}

template <class T>
void LayerRunner<T>::replay(std::int64_t n0, std::int64_t n1) {
  for_shown_runs(n0, n1, false, [&](std::int64_t r0, std::int64_t r1) {
    interpreter_.run(schedule_.replay.before, r0, r1 - r0);
  });
}

template <class T>
void LayerRunner<T>::undo(std::int64_t n0, std::int64_t n1) {
  states_.show(n1);
  for_runs(n0, n1, true, [&](std::int64_t r0, std::int64_t r1) {
    interpreter_.run(schedule_.undo.before, r0, r1 - r0);
    for (std::int64_t n = r1; n-- > r0;) {
      interpreter_.run(schedule_.undo.step, n, 1);
      states_.thaw_finished(n);
    }
    interpreter_.run(schedule_.undo.after, r0, r1 - r0);
    resets_.restore_grid(r0);
  });
}

// ---- backward ----

namespace {

template <class T>
T* first_wanted(const LayerSchedule::NarrowGradient& g, T* const* gradients) {
  for (int w : g.weights)
    if (gradients[w] != nullptr) return gradients[w];
  return nullptr;
}

}  // namespace

template <class T>
void LayerRunner<T>::begin_backward(const std::vector<Tensor>* final_gradient, std::size_t first_state,
                                    std::int64_t row0) {
  final_gradient_.begin(final_gradient, first_state, row0, rows_, states_.lengths(), extent_, resets_);
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    const Array& array = schedule_.arrays[i];
    ArrayView<T>& view = interpreter_.array(static_cast<int>(i));
    const std::int64_t block = rows_ * padded<T>(array.width);
    if (array.kind == Array::Kind::direct) std::fill_n(view.base, block, T(0));
    if (array.kind != Array::Kind::lag_adjoint) continue;
    const LayerOps::LaggedRead& read = schedule_.lagged[array.index];
    if (lies_on_states(read)) {
      std::fill_n(view.base, block, T(0));
      view.beyond = view.base;
      view.last = extent_.last;
      const ArrayView<T>& states = interpreter_.array(schedule_.state_arrays[read.state]);
      view.base = states.base;
      view.first = states.first - adjoints_after_states(extent_) - 1;
      continue;
    }
    const std::int64_t beyond = read.lag + 2;
    view.first = extent_.last + beyond - capacities_[i];
    std::fill_n(view.at(extent_.last), beyond * block, T(0));
  }
}

template <class T>
void LayerRunner<T>::enter_backward(std::int64_t n0, std::int64_t n1) {
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    ArrayView<T>& view = interpreter_.array(static_cast<int>(i));
    const Array& array = schedule_.arrays[i];
    switch (array.kind) {
      case Array::Kind::lag_adjoint:
        if (n0 < view.first && !lies_on_states(schedule_.lagged[array.index])) {
          const std::int64_t beyond = schedule_.lagged[array.index].lag + 2;
          T* const from = view.at(n1);
          view.first = n1 + beyond - capacities_[i];
          std::memmove(view.at(n1), from, static_cast<std::size_t>(beyond * view.stride) * sizeof(T));
        }
        break;
      case Array::Kind::state:
        if (extent_.undo) view.first = n0;
        break;
      case Array::Kind::saved:
        if (!extent_.keep_saved) view.first = n0;
        break;
      case Array::Kind::input:
        if (below_ == nullptr) view.first = n0;
        break;
      case Array::Kind::output_adjoint:
        if (above_ == nullptr) view.first = n0;
        break;
      case Array::Kind::input_adjoint: view.first = n0; break;
      default: break;
    }
  }
  share_input();
}

template <class T>
void LayerRunner<T>::backward(std::int64_t n0, std::int64_t n1, T* const* gradients,
                              LargeProductFunction large) {
  for_shown_runs(n0, n1, true, [&](std::int64_t r0, std::int64_t r1) {
    interpreter_.run(schedule_.backward.before, r0, r1 - r0);
    const std::int64_t block = schedule_.block > 0 ? schedule_.block : r1 - r0;
    for (std::int64_t b1 = r1; b1 > r0;) {
      const std::int64_t b0 = std::max(r0, b1 - block);
      final_gradient_.add_after_block(b0, b1, interpreter_);
      if (!schedule_.backward.step.empty())
        for (std::int64_t n = b1; n-- > b0;) {
          final_gradient_.add_after(n, interpreter_);
          interpreter_.run(schedule_.backward.step, n, 1);
          final_gradient_.end_after(n, interpreter_);
        }
      interpreter_.run(schedule_.backward.block, b0, b1 - b0);
      b1 = b0;
    }
    interpreter_.run(schedule_.backward.after, r0, r1 - r0);
    add_gradients(r0, (r1 - r0) * rows_, gradients, large);
    resets_.clear_adjoints(r0);
  });
}

template <class T>
void LayerRunner<T>::add_gradients(std::int64_t n, std::int64_t rows, T* const* gradients,
                                   LargeProductFunction large) {
  products_.clear();
  for (const auto& g : schedule_.matrix_gradients) {
    if (gradients[g.weight] == nullptr) continue;
    const Shape& shape = program_.weights[g.weight].shape;
    for (std::int64_t group = 0; group < g.groups; ++group)
      products_.push_back({gradients[g.weight],
                           shape[1],
                           {interpreter_.at(g.delta, n, group * shape[0]), g.delta.width, g.delta.rounded},
                           interpreter_.at(g.operand, n, group * shape[1]),
                           g.operand.width,
                           shape[0],
                           shape[1]});
  }
  add_weight_gradients(kernels_, large, products_.data(), std::ssize(products_), rows);
  static constexpr T one = 1;
  sums_.clear();
  for (const auto& g : schedule_.narrow_gradients)
    if (T* first = first_wanted(g, gradients); first != nullptr)
      sums_.push_back({first + g.first,
                       g.stride,
                       g.n,
                       {interpreter_.at(g.rows, n), g.rows.width, g.rows.rounded},
                       g.element < 0 ? &one : interpreter_.at(g.factor, n) + g.element,
                       g.element < 0 ? 0 : g.factor.width});
  kernels_.add_scaled_sums(sums_.data(), static_cast<std::int64_t>(sums_.size()), rows);
  for (const auto& g : schedule_.narrow_gradients)
    for (int w : g.weights)
      if (T* first = first_wanted(g, gradients); gradients[w] != nullptr && gradients[w] != first)
        std::copy_n(first, g.n, gradients[w]);
}

template <class T>
void LayerRunner<T>::end_backward() {
  for (const auto& read : schedule_.lagged) {
    if (read.tau < 0) continue;
    ArrayView<T>& view = interpreter_.array(read.adjoint_array);
    const T* const from = view.base + (extent_.first - view.first) * view.stride;
    const std::int64_t steps = std::min(read.lag + 2, view.last - extent_.first);
    view.first = extent_.first - read.lag;
    std::memmove(view.at(extent_.first), from, static_cast<std::size_t>(steps * view.stride) * sizeof(T));
    std::fill_n(view.base, read.lag * view.stride, T(0));
  }
}

template <class T>
void LayerRunner<T>::initial_adjoint(int s, std::int64_t n, T* out) {
  const std::int64_t back = extent_.first - n;
  const std::int64_t count = rows_ * padded<T>(program_.states[s].shape.width());
  std::fill_n(out, count, T(0));
  std::vector<T> part;
  for (std::size_t l = 0; l < schedule_.lagged.size(); ++l) {
    const auto& read = schedule_.lagged[l];
    if (read.state != s || read.lag < back) continue;
    const T* adjoint = nullptr;
    if (read.tau < 0) {
      adjoint = interpreter_.array(read.adjoint_array).at(n + read.lag);
    } else {
      part.resize(static_cast<std::size_t>(count));
      interpreter_.real_lag_adjoint(part.data(), static_cast<int>(l), 0, rows_, n);
      adjoint = part.data();
    }
    for (std::int64_t i = 0; i < count; ++i) out[i] += adjoint[i];
  }
  final_gradient_.add_before_first(s, n, out);
  if (back > 0) return;
  for (int array : {schedule_.direct[s].element, schedule_.direct[s].product}) {
    if (array < 0) continue;
    const T* adjoint = interpreter_.array(array).base;
    for (std::int64_t i = 0; i < count; ++i) out[i] += adjoint[i];
  }
}

template class LayerRunner<float>;
template class LayerRunner<double>;

}  // namespace lagtape::recurrence
