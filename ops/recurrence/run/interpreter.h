#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lagtape/ops/recurrence/run/layer_weights.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// An array in memory: the row block of step n is at `base + (n - first) * stride`. A stride of 0 holds one
/// step. From step `last` on, all steps are the block `beyond`.
template <class T>
struct ArrayView {
  T* base = nullptr;
  std::int64_t first = 0;
  std::int64_t stride = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  T* beyond = nullptr;

  T* at(std::int64_t step) const { return step < last ? base + (step - first) * stride : beyond; }
};

/// The number of model-precision values in the space of a double.
template <class T>
inline constexpr std::int64_t kDoubleWidth = sizeof(double) / sizeof(T);

/// The space for the given number of elements, in model-precision values, whether or not they are rounded.
template <class T>
constexpr std::int64_t space_of(std::int64_t elements, bool rounded) {
  constexpr auto saved = static_cast<std::int64_t>(sizeof(SavedElement<T>));
  return rounded ? elements * saved / static_cast<std::int64_t>(sizeof(T)) : elements;
}

/// The key of the draws of a slice.
struct DrawContext {
  bool training = false;
  std::uint64_t seed = 0, epoch = 0;
  const std::int64_t* sequences = nullptr;  ///< one per slice row
  int layer = 0;
};

/// The start of a row that resets within its sequence.
struct RowBegin {
  std::int64_t hidden =
      std::numeric_limits<std::int64_t>::min() / 2;  ///< trained lags read zeros up to this step
  std::int64_t skipped = 0;                          ///< steps that the step index and draws do not count
};

/// Runs phases of one layer on the rows of one slice. Owns no arrays; does not allocate while it runs.
template <class T>
class Interpreter {
 public:
  Interpreter(const StepProgram& program, const LayerSchedule& schedule, const LayerWeights<T>& weights,
              const Kernels<T>& kernels);

  /// Memory for the tile: largest_tile elements, 64-byte aligned.
  void set_tile(T* tile) { tile_ = tile; }
  /// Memory for grouped products: group_columns elements for every row of a run.
  void set_group_scratch(T* scratch) { group_scratch_ = scratch; }
  void set_rows(std::int64_t rows) { rows_ = rows; }
  /// The memory needed for per-sequence draws, for set_rows rows.
  std::int64_t once_elements() const;
  void set_once(T* once) { once_ = once; }
  /// Draws the per-sequence numbers into the memory of set_once. Call after set_draws and set_rows.
  void draw_once();
  void set_draws(const DrawContext& draws) { draws_ = draws; }
  /// The row starts for the following steps; null: no row resets.
  void set_begins(const RowBegin* begins) { begins_ = begins; }
  /// From now on, keeps the largest magnitudes of the products' operands in `ranges`, one per weight stack (NaN
  /// counts as largest); null: stop.
  void observe(std::vector<float>* ranges) { ranges_ = ranges; }
  ArrayView<T>& array(int i) { return arrays_[i]; }
  const ArrayView<T>& array(int i) const { return arrays_[i]; }

  /// Runs the phase for steps [step, step + count). Arrays that hold one step require count = 1.
  void run(const Phase& phase, std::int64_t step, std::int64_t count);
  /// The addresses of an array's rows at a step, starting at an element of each row.
  T* at(const Operand& operand, std::int64_t step, std::int64_t element = 0) const {
    T* const rows = arrays_[operand.index].at(step + operand.step);
    return operand.rounded ? reinterpret_cast<T*>(reinterpret_cast<SavedElement<T>*>(rows) + element)
                           : rows + element;
  }

  /// State s on the grid at a step: rows of doubles, as wide as the state's own.
  double* grid(int s, std::int64_t step) const {
    const ArrayView<T>& view = arrays_[schedule_.grid_arrays[s]];
    return reinterpret_cast<double*>(view.base + (step & 1) * view.stride);
  }

  /// Writes into `out` the contribution of lagged read l, a real lag, to its state's adjoint at step n, for
  /// `rows` rows of the slice starting at first_row.
  void real_lag_adjoint(T* out, int l, std::int64_t first_row, std::int64_t rows, std::int64_t n) const;

 private:
  void observe(const ProductStage& stage, std::int64_t step, std::int64_t count);
  std::int64_t skipped(std::int64_t row) const { return begins_ == nullptr ? 0 : begins_[row].skipped; }
  void run_products(const ProductStage& stage, std::int64_t step, std::int64_t count);
  void run_group_products(const ProductStage& stage, std::int64_t step, std::int64_t count);
  void run_elements(const ElementStage& stage, std::int64_t step, std::int64_t count);
  T* pointer_of(const Operand& operand, std::int64_t step) const;
  void run_compiled(const ElementStage& stage, std::int64_t step, std::int64_t count);
  void run_special(const ElementInstruction& t, std::int64_t first_row, std::int64_t rows, std::int64_t step);
  void draw_row(T* out, int draw, const RowShape& shape, std::int64_t row, std::int64_t step) const;
  T* once_of(int draw) const;
  void run_draw(const ElementInstruction& t, std::int64_t first_row, std::int64_t rows, std::int64_t step);
  void run_parts(const ElementInstruction& t, std::int64_t rows);
  void run_view(const ElementInstruction& t, std::int64_t rows);
  void run_real_lag(const ElementInstruction& t, std::int64_t first_row, std::int64_t rows,
                    std::int64_t step);

  const StepProgram& program_;
  const LayerSchedule& schedule_;
  const LayerWeights<T>& weights_;
  const Kernels<T>& kernels_;
  std::int64_t rows_ = 0;
  T* tile_ = nullptr;
  T* group_scratch_ = nullptr;
  T* once_ = nullptr;
  DrawContext draws_;
  const RowBegin* begins_ = nullptr;
  std::vector<float>* ranges_ = nullptr;
  std::vector<ArrayView<T>> arrays_;
  // The following members are scratch for one stage.
  std::vector<T*> pointers_;
  std::vector<std::int64_t> strides_;
  std::vector<ProductOperand<T>> operands_;
  std::vector<T*> outputs_;
  std::vector<std::int64_t> output_strides_;
  std::vector<Piece> prefetched_;
};

extern template class Interpreter<float>;
extern template class Interpreter<double>;

}  // namespace lagtape::recurrence
