#pragma once

#include <optional>
#include <vector>

#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"
#include "lagtape/ops/recurrence/run/signal_readout.h"
#include "lagtape/ops/recurrence/run/slice.h"

namespace lagtape::recurrence {

/// The read-out of one slice: from the last layer's output to outputs and losses, and from those back to
/// dL/d(output). Its own read-out reads every step, or each row's last step or mean once.
template <class T>
class SliceReadout {
 public:
  /// `top`, the last layer, must outlive the read-out.
  SliceReadout(const CompiledStack<T>& stack, LayerRunner<T>& top);

  void lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows);
  /// Starts a sequence. `draws` are those of the read-out as a layer.
  void begin(const SliceRows<T>& rows, const DrawContext& draws);
  /// Call `forward` once after each range of steps [n0, n1) of the last layer has run, `end_forward` after all
  /// of them, and `begin_backward` before the steps of the backward pass.
  void forward(std::int64_t n0, std::int64_t n1);
  void end_forward();
  void begin_backward();
  /// Computes dL/d(output) of steps [n0, n1), whose outputs the last layer holds.
  void backward(std::int64_t n0, std::int64_t n1);
  /// The sum over the slice's rows, for any order of scored steps.
  double loss() const;

 private:
  void gather_features(std::int64_t n0, std::int64_t n1);
  void spread_feature_adjoint(std::int64_t n0, std::int64_t n1);
  void read_outputs(std::int64_t n0, std::int64_t n1);
  void score(std::int64_t n0, std::int64_t n1, bool gradient);
  void score_features(T* gradient);
  const T* final_output() const { return final_readout_ ? final_readout_->output(0) : features_; }
  std::int64_t final_stride() const {
    return final_readout_ ? final_readout_->schedule().output.width : top_width();
  }
  template <class F>
  void with_loss(F f) const;
  /// Whether the loss is wanted and is a signal loss, esr or dc.
  bool scores_signal() const {
    return definition().loss.is_signal() && request().loss_scale > 0 &&
           request().backward.output_gradient == nullptr;
  }

  const StackDefinition& definition() const { return stack_.stack(); }
  const PreparedRequest& request() const { return *rows_.request; }
  bool every_step() const { return reads_every_step(definition().at); }
  std::int64_t top_width() const { return top_.schedule().output.width; }

  const CompiledStack<T>& stack_;
  LayerRunner<T>& top_;
  std::optional<LayerRunner<T>> final_readout_;
  SignalReadout<T> signal_;
  T* features_ = nullptr;         // rows x padded width: the features, if read once
  T* feature_adjoint_ = nullptr;  // dL/d(features)
  SliceRows<T> rows_;
  std::vector<double> run_losses_;  // by run; only one if the output is read once
  // For each step of a chunk: whether dL/d(output) is already zero there, as at most steps of a sequence that
  // is read once. Every chunk has the step in the same place, and nothing else writes it.
  std::vector<bool> is_zero_;
};

extern template class SliceReadout<float>;
extern template class SliceReadout<double>;

}  // namespace lagtape::recurrence
