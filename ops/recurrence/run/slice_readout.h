#pragma once

#include <optional>
#include <vector>

#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"
#include "lagtape/ops/recurrence/run/slice.h"

namespace lagtape::recurrence {

/// What becomes of the last layer's output on the rows of one slice: outputs and losses forward, dL/d(output)
/// backward. Every step is read, or each row's last step or mean once, by a read-out of its own.
template <class T>
class SliceReadout {
 public:
  /// `top`, the last layer, must outlive it.
  SliceReadout(const CompiledStack<T>& stack, LayerRunner<T>& top);

  void lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows);
  /// Before a sequence. `draws` are those of the read-out as a layer.
  void begin(const SliceRows<T>& rows, const DrawContext& draws);
  /// After steps [n0, n1) of the last layer, each once; then after them all.
  void forward(std::int64_t n0, std::int64_t n1);
  void end_forward();
  /// dL/d(output) of steps [n0, n1), whose outputs the last layer holds.
  void backward(std::int64_t n0, std::int64_t n1);
  /// The sum over the slice's rows, whichever order the steps were scored in.
  double loss() const;

 private:
  void gather_features(std::int64_t n0, std::int64_t n1);
  void spread_feature_adjoint(std::int64_t n0, std::int64_t n1);
  void read_outputs(std::int64_t n0, std::int64_t n1);
  void score(std::int64_t n0, std::int64_t n1, bool gradient);
  void score_features(const T* y, std::int64_t stride, T* gradient);
  template <class F>
  void with_loss(F f) const;

  const StackDefinition& definition() const { return stack_.stack(); }
  const PreparedPass& pass() const { return *rows_.pass; }
  bool every_step() const { return reads_every_step(definition().at); }
  std::int64_t top_width() const { return top_.schedule().output.width; }

  const CompiledStack<T>& stack_;
  LayerRunner<T>& top_;
  std::optional<LayerRunner<T>> final_readout_;
  T* features_ = nullptr;         // rows x padded width: what is read once
  T* feature_adjoint_ = nullptr;  // dL/d(features)
  SliceRows<T> rows_;
  std::vector<double> run_losses_;  // by run, or the one of what is read once
  // By step of a chunk, which every chunk has in the same place, and which only we write: that dL/d(output)
  // is zero there already, as it is at most steps of a sequence that is read once.
  std::vector<bool> is_zero_;
};

extern template class SliceReadout<float>;
extern template class SliceReadout<double>;

}  // namespace lagtape::recurrence
