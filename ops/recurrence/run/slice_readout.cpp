#include "lagtape/ops/recurrence/run/slice_readout.h"

#include <algorithm>
#include <cmath>

#include "lagtape/ops/recurrence/step/real_losses.h"

namespace lagtape::recurrence {

template <class T>
SliceReadout<T>::SliceReadout(const CompiledStack<T>& stack, LayerRunner<T>& top) : stack_(stack), top_(top) {
  if (stack.has_final_readout())
    final_readout_.emplace(stack.final_readout_program(), stack.final_readout_schedule(),
                           stack.final_readout_weights(), stack.kernels(stack.layers()));
}

template <class T>
void SliceReadout<T>::lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows) {
  features_ = feature_adjoint_ = nullptr;
  if (definition().loss.is_signal()) signal_.lay_out(memory, extent, rows, definition().target_width());
  if (final_readout_) {
    Extent once{0, 1};
    once.backward = extent.backward;
    final_readout_->lay_out(memory, once, rows, nullptr, nullptr);
    features_ = final_readout_->input(0);
    if (extent.backward) feature_adjoint_ = final_readout_->input_adjoint(0);
  } else if (!every_step()) {
    features_ = memory.take(rows * top_width());
    if (extent.backward) feature_adjoint_ = memory.take(rows * top_width());
  }
}

template <class T>
void SliceReadout<T>::begin(const SliceRows<T>& rows, const DrawContext& draws) {
  rows_ = rows;
  const Extent& extent = rows.extent;
  const std::int64_t runs = every_step() ? (extent.last - 1) / extent.run - extent.first / extent.run + 1 : 1;
  run_losses_.assign(static_cast<std::size_t>(runs), 0.0);
  is_zero_.clear();
  if (scores_signal()) signal_.begin(rows, definition().loss.options);
  if (final_readout_) {
    final_readout_->set_draws(draws);
    final_readout_->set_lengths(nullptr);
    final_readout_->begin(nullptr, 0, 0);
  }
  if (!every_step()) std::fill_n(features_, rows.count() * top_width(), T(0));
}

template <class T>
void SliceReadout<T>::forward(std::int64_t n0, std::int64_t n1) {
  if (!every_step()) return gather_features(n0, n1);
  if (request().outputs != nullptr) read_outputs(n0, n1);
  if (scores_signal()) {
    for (std::int64_t n = n0; n < n1; ++n) signal_.take(n, top_.output(n), top_width());
  } else if (request().loss_scale > 0 && !request().backward.wanted()) {
    score(n0, n1, false);
  }
}

template <class T>
void SliceReadout<T>::backward(std::int64_t n0, std::int64_t n1) {
  if (scores_signal()) {
    for (std::int64_t n = n0; n < n1; ++n) signal_.give(n, top_.output_adjoint(n), top_width());
  } else if (every_step()) {
    score(n0, n1, true);
  } else {
    spread_feature_adjoint(n0, n1);
  }
}

template <class T>
double SliceReadout<T>::loss() const {
  double sum = 0;
  for (double loss : run_losses_) sum += loss;
  return sum;
}

// ---- read once ----

template <class T>
void SliceReadout<T>::gather_features(std::int64_t n0, std::int64_t n1) {
  const std::int64_t width = top_width();
  const bool mean = definition().at == ReadAt::mean;
  for (std::int64_t n = n0; n < n1; ++n) {
    const T* out = top_.output(n);
    for (std::int64_t r = 0; r < rows_.count(); ++r, out += width) {
      T* to = features_ + r * width;
      if (mean && rows_.counts(r, n)) {
        for (std::int64_t j = 0; j < width; ++j) to[j] += out[j];
        if (rows_.ends(r, n))
          for (std::int64_t j = 0; j < width; ++j) to[j] /= static_cast<T>(rows_.length(r));
      } else if (!mean && rows_.ends(r, n)) {
        std::copy_n(out, width, to);
      }
    }
  }
}

template <class T>
void SliceReadout<T>::spread_feature_adjoint(std::int64_t n0, std::int64_t n1) {
  const std::int64_t width = top_width();
  const bool mean = definition().at == ReadAt::mean;
  is_zero_.resize(std::max(is_zero_.size(), static_cast<std::size_t>(n1 - n0)), false);
  for (std::int64_t n = n0; n < n1; ++n) {
    bool is_read = false;
    for (std::int64_t r = 0; r < rows_.count(); ++r) is_read |= mean ? rows_.counts(r, n) : rows_.ends(r, n);
    const auto step = static_cast<std::size_t>(n - n0);
    if (!is_read && is_zero_[step]) continue;
    is_zero_[step] = !is_read;
    T* to = top_.output_adjoint(n);
    for (std::int64_t r = 0; r < rows_.count(); ++r, to += width) {
      const T* from = feature_adjoint_ + r * width;
      if (mean && rows_.counts(r, n)) {
        for (std::int64_t j = 0; j < width; ++j) to[j] = from[j] / static_cast<T>(rows_.length(r));
      } else if (!mean && rows_.ends(r, n)) {
        std::copy_n(from, width, to);
      } else {
        std::fill_n(to, width, T(0));
      }
    }
  }
}

template <class T>
void SliceReadout<T>::end_forward() {
  if (scores_signal()) run_losses_[0] = signal_.finish(request().backward.wanted());
  if (every_step()) return;
  if (final_readout_) {
    final_readout_->enter_forward(0, 1);
    final_readout_->forward(0, 1);
  }
  const std::int64_t width = definition().output_width();
  if (request().outputs != nullptr)
    for (std::int64_t r = 0; r < rows_.count(); ++r)
      std::copy_n(final_output() + r * final_stride(), width,
                  request().outputs->template values<T>().data() + (rows_.slice->row0 + r) * width);
  if (!request().backward.wanted() && request().loss_scale > 0) score_features(nullptr);
}

template <class T>
void SliceReadout<T>::begin_backward() {
  if (every_step()) return;
  if (!final_readout_) return score_features(feature_adjoint_);
  final_readout_->begin_backward();
  final_readout_->enter_backward(0, 1);
  score_features(final_readout_->output_adjoint(0));
  const std::vector<T*>& gradients = rows_.slice->gradients;
  final_readout_->backward(0, 1,
                           gradients.data() + gradients.size() - final_readout_->program().weights.size(),
                           request().backward.large_product);
}

template <class T>
void SliceReadout<T>::score_features(T* gradient) {
  const T* y = final_output();
  const std::int64_t stride = final_stride();
  with_loss([&](auto loss_of) {
    for (std::int64_t r = 0; r < rows_.count(); ++r)
      run_losses_[0] += loss_of(y + r * stride, rows_.slice->row0 + r,
                                gradient == nullptr ? nullptr : gradient + r * stride);
  });
}

// ---- read at every step ----

template <class T>
void SliceReadout<T>::read_outputs(std::int64_t n0, std::int64_t n1) {
  const std::int64_t width = definition().output_width(), steps = request().outputs->shape()[1];
  T* values = request().outputs->template values<T>().data();
  for (std::int64_t n = n0; n < n1; ++n)
    for (std::int64_t r = 0; r < rows_.count(); ++r)
      if (rows_.counts(r, n))
        std::copy_n(top_.output(n) + r * top_width(), width, values + rows_.place(r, n, steps) * width);
}

template <class T>
void SliceReadout<T>::score(std::int64_t n0, std::int64_t n1, bool gradient) {
  const std::int64_t stride = top_width(), width = definition().output_width();
  const std::int64_t steps = request().batch.x.shape()[1];
  const Extent& extent = rows_.extent;
  with_loss([&](auto loss_of) {
    for (std::int64_t n = n0; n < n1; ++n) {
      const T* y = top_.output(n);
      T* d = gradient ? top_.output_adjoint(n) : nullptr;
      double loss = run_losses_[n / extent.run - extent.first / extent.run];
      for (std::int64_t r = 0; r < rows_.count(); ++r) {
        T* dr = gradient ? d + r * stride : nullptr;
        if (rows_.counts(r, n)) {
          loss += loss_of(y + r * stride, rows_.place(r, n, steps), dr);
        } else if (gradient) {
          std::fill_n(dr, width, T(0));
        }
      }
      run_losses_[n / extent.run - extent.first / extent.run] = loss;
    }
  });
}

// ---- losses ----

/// Calls f(loss_of). loss_of(y, place, gradient) returns the loss of one row of the read-out and writes its
/// gradient; `place` is the position of its target.
template <class T>
template <class F>
void SliceReadout<T>::with_loss(F f) const {
  const std::int64_t width = definition().output_width();
  const double scale = request().loss_scale;
  if (request().backward.output_gradient != nullptr) {
    const T* given = request().backward.output_gradient->template values<T>().data();
    return f([=](const T*, std::int64_t place, T* gradient) {
      std::copy_n(given + place * width, width, gradient);
      return 0.0;
    });
  }
  const auto no_loss = [width](T* gradient) {
    if (gradient != nullptr) std::fill_n(gradient, width, T(0));
    return 0.0;
  };
  const SequenceBatch& batch = request().batch;
  const LossFunction& loss = definition().loss;
  const bool adjusted = loss.is_adjusted();
  switch (loss_row(loss.kind).targets) {
    case LossTargets::real: {
      const T* targets = batch.targets.values<T>().data();
      const std::int64_t numbers = width / loss.outputs_of_target();
      if (batch.targets.size(-1) > numbers)
        return f([=, distribution = loss.distribution()](const T* y, std::int64_t place, T* gradient) {
          const T* counts = targets + 2 * place * numbers;
          return likelihood_row(y, counts, numbers, *distribution, scale, gradient, counts + numbers);
        });
      return with_real_loss<T>(loss, numbers, [&](auto row) {
        f([=](const T* y, std::int64_t place, T* gradient) {
          return row(y, targets + place * numbers, scale, gradient);
        });
      });
    }
    case LossTargets::classes: {
      const std::int32_t* classes = batch.classes.data();
      return f([=, &loss](const T* y, std::int64_t place, T* gradient) {
        if (classes[place] < 0) return no_loss(gradient);
        if (adjusted)
          return smoothed_cross_entropy_row(y, width, classes[place], loss.class_weight(classes[place]),
                                            loss.options.label_smoothing, scale, gradient);
        return cross_entropy_row(y, width, classes[place], scale, gradient);
      });
    }
    case LossTargets::bit: {
      const T* targets = batch.targets.values<T>().data();
      return f([=, &loss](const T* y, std::int64_t place, T* gradient) {
        if (std::isnan(targets[place])) return no_loss(gradient);
        const std::int32_t target = targets[place] != 0 ? 1 : 0;
        if (adjusted)
          return smoothed_binary_cross_entropy_row(y, target, loss.class_weight(target),
                                                   loss.options.label_smoothing, scale, gradient);
        return binary_cross_entropy_row(y, target, scale, gradient);
      });
    }
    case LossTargets::signal:  // the signal read-out scores them
    case LossTargets::none: return f([=](const T*, std::int64_t, T* gradient) { return no_loss(gradient); });
  }
}

template class SliceReadout<float>;
template class SliceReadout<double>;

}  // namespace lagtape::recurrence
