#pragma once

#include <deque>
#include <vector>

#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"
#include "lagtape/ops/recurrence/run/slice.h"
#include "lagtape/ops/recurrence/run/slice_readout.h"

namespace lagtape::recurrence {

/// Runs one slice through the whole sequence: forward, loss, and backward. Each worker has one and uses it for
/// every slice.
template <class T>
class SliceRunner {
 public:
  explicit SliceRunner(const CompiledStack<T>& stack);

  /// The number of elements of memory that a slice with that many rows needs.
  std::int64_t elements(const Extent& extent, std::int64_t rows);
  void run(const PreparedRequest& request, Slice<T>& slice, const Extent& extent, T* memory);

  /// The two halves of `run`. The request (except its backward half), the slice, and the memory must not change
  /// between them.
  void forward(const PreparedRequest& request, Slice<T>& slice, const Extent& extent, T* memory);
  void backward();

 private:
  void lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows);
  void begin();
  void forward_pass();
  void backward_pass();
  void forward_chunk(std::int64_t n0, std::int64_t n1);
  void backward_chunk(std::int64_t n0, std::int64_t n1);
  void backward_intervals();
  void run_again(std::int64_t low, std::int64_t high);
  void enter_interval(std::int64_t s);
  void save_checkpoint(std::int64_t slot, std::int64_t s);
  void restore_checkpoint(std::int64_t slot, std::int64_t s);
  void enter_forward(std::int64_t n0, std::int64_t n1);
  void enter_backward(std::int64_t n0, std::int64_t n1);
  /// The reset counts in the window before the first step; null if it has none for layer l.
  const Tensor* resets_in_window(std::size_t l, std::size_t state) const;
  void begin_layer(std::size_t l, std::size_t state, const DrawContext& draws);
  void fill_input(std::int64_t n0, std::int64_t n1);
  void write_final_window(std::int64_t n0, std::int64_t n1);
  void write_initial_gradient();
  void write_input_gradient(std::int64_t n0, std::int64_t n1);

  const PreparedRequest& request() const { return *rows_.request; }
  template <class F>
  void for_chunks(std::int64_t first, std::int64_t last, bool descending, F f);
  std::int64_t interval_begin(std::int64_t i) const;

  const CompiledStack<T>& stack_;
  std::deque<LayerRunner<T>> layers_;
  SliceReadout<T> readout_;   // reads the last layer
  T* checkpoints_ = nullptr;  // windows of the whole stack, one per slot
  std::int64_t checkpoint_elements_ = 0;
  std::int64_t intervals_ = 1;
  std::vector<std::int64_t> first_checkpoints_;
  struct Walk {
    std::int64_t low, high;
    bool first;
  };
  std::vector<Walk> walks_;  // back from checkpoints, one per slot in use
  SliceRows<T> rows_;
  Extent extent_;
  std::vector<T> scratch_;
};

extern template class SliceRunner<float>;
extern template class SliceRunner<double>;

}  // namespace lagtape::recurrence
