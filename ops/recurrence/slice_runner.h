#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "lagtape/ops/recurrence/compiled_stack.h"
#include "lagtape/ops/recurrence/layer_runner.h"

namespace lagtape::recurrence {

/// What is to be done with a batch; every slice reads and writes its own rows of it.
template <class T>
struct BatchTask {
  const SequenceBatch* batch = nullptr;
  std::vector<std::int64_t> lengths;  ///< of all rows; empty: all as long as the batch
  std::vector<std::int64_t> sequences;
  const std::vector<Tensor>* initial = nullptr;  ///< a window; null: zeros
  Window* final_window = nullptr;                ///< allocated; null: not wanted
  double loss_scale = 0;                         ///< 1 / (everything that is scored)
  Tensor* outputs = nullptr;                     ///< [B, T, q] or [B, q]; null: not wanted
  const Tensor* output_gradient = nullptr;       ///< the same shape; null: the loss's
  bool backward = false;
  Tensor* x_gradient = nullptr;  ///< [B, T, input]
  std::vector<Tensor>* initial_gradient = nullptr;
  AddWeightGradient<T> add_weight_gradient = nullptr;
};

/// A part of the batch, and what it leaves behind.
template <class T>
struct Slice {
  std::int64_t row0 = 0, rows = 0;
  std::int64_t steps = 0;     ///< of its longest row
  std::vector<T*> gradients;  ///< by weight; null where not wanted
  double loss = 0;            ///< sum over its rows
};

/// Takes one slice through the whole sequence: forward, loss and backward. One a worker; reused for every
/// slice.
template <class T>
class SliceRunner {
 public:
  explicit SliceRunner(const CompiledStack<T>& stack);

  /// Elements that a slice of that many rows needs.
  std::int64_t elements(const Extent& extent, std::int64_t rows);
  void run(const BatchTask<T>& task, Slice<T>& slice, const Extent& extent, T* memory);

 private:
  void lay_out(Carver<T>& memory, const Extent& extent, std::int64_t rows);
  void begin();
  void forward_pass();
  void backward_pass();
  void forward_chunk(std::int64_t n0, std::int64_t n1);
  void backward_chunk(std::int64_t n0, std::int64_t n1);
  void backward_segments(std::int64_t low, std::int64_t high, std::int64_t slot, bool first);
  void run_again(std::int64_t low, std::int64_t high);
  void enter_segment(std::int64_t s);
  void save_checkpoint(std::int64_t slot, std::int64_t s);
  void restore_checkpoint(std::int64_t slot, std::int64_t s);
  void enter_forward(std::int64_t n0, std::int64_t n1);
  void enter_backward(std::int64_t n0, std::int64_t n1);
  void fill_input(std::int64_t n0, std::int64_t n1);
  void gather_features(std::int64_t n0, std::int64_t n1);
  void spread_feature_adjoint(std::int64_t n0, std::int64_t n1);
  void read_outputs(std::int64_t n0, std::int64_t n1);
  void score(std::int64_t n0, std::int64_t n1, bool gradient);
  void head_pass();
  template <class F>
  void with_loss(F f) const;
  void write_final_window(std::int64_t n0, std::int64_t n1);
  void write_initial_gradient();
  void write_input_gradient(std::int64_t n0, std::int64_t n1);

  LayerRunner<T>& top() { return layers_.back(); }
  const StackDefinition& definition() const { return stack_.stack(); }
  bool every_step() const { return reads_every_step(definition().at); }
  std::int64_t length(std::int64_t r) const {
    return task_->lengths.empty() ? steps() : task_->lengths[slice_->row0 + r];
  }
  std::int64_t steps() const { return extent_.last - extent_.first; }
  /// Whether step n is one of row r's own.
  bool counts(std::int64_t r, std::int64_t n) const { return n - extent_.first < length(r); }
  template <class F>
  void for_chunks(std::int64_t first, std::int64_t last, bool descending, F f);
  std::int64_t segment_begin(std::int64_t i) const;

  const CompiledStack<T>& stack_;
  std::deque<LayerRunner<T>> layers_;
  std::optional<LayerRunner<T>> head_;
  T* features_ = nullptr;         // rows x padded width: what the read-out reads once
  T* feature_adjoint_ = nullptr;  // without a read-out: dL/d(features)
  T* checkpoints_ = nullptr;      // windows of the whole stack, one a slot
  std::int64_t checkpoint_elements_ = 0;
  std::int64_t segments_ = 1;
  std::vector<std::int64_t> first_checkpoints_;
  const BatchTask<T>* task_ = nullptr;
  Slice<T>* slice_ = nullptr;
  Extent extent_;
  std::vector<double> run_losses_;  // by run: added in order, whichever order they were scored in
  std::vector<T> scratch_;
};

extern template class SliceRunner<float>;
extern template class SliceRunner<double>;

}  // namespace lagtape::recurrence
