#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// Elements of a tile, the unit that one element-wise instruction processes, sized so that a stage stays in the
/// L1 cache.
inline constexpr std::int64_t kTileElements = 256;

/// Where an instruction reads or writes a block of rows. Widths are padded.
struct Operand {
  enum class Kind : std::uint8_t { array, weight, tile, grid };
  Kind kind = Kind::array;
  int index = 0;          ///< the array, weight vector, tile register, or state on the grid
  std::int64_t step = 0;  ///< for arrays and states, relative to the current step
  std::int64_t width = 0;
  bool rounded = false;  ///< in an array of rounded numbers
  bool operator==(const Operand&) const = default;
};

/// One element-wise instruction of a stage.
struct ElementInstruction {
  Op::Kind kind = Op::Kind::element;
  ElementOp element = ElementOp::copy;
  int out = -1, a = -1, b = -1, c = -1;  ///< operands of the stage
  double k = 0;
  std::int64_t width = 0;  ///< padded width of out
  /// The shape of out; for sum, broadcast, slice, pad, and collect, the shape of the side that has the axes;
  /// for a narrow product, the shape of a.
  RowShape shape;
  /// For a narrow product, the position in a of the number that column b is multiplied by; for slice, pad,
  /// view, and collect, the first element.
  int index = -1;
  std::int64_t lag = 0;
  /// Elements of the narrower side of slice and pad, of concatenate's first part, or of view's operand.
  std::int64_t part = 0;
  Strides4 strides = {};
  bool per_unit = false;  ///< a real lag with one delay per unit
};

/// Whether the operand is in an array that holds the whole sequence.
bool lies_over_sequence(const Operand& operand, const std::vector<Array>& arrays);

class CompiledStage;

/// Element-wise work in one pass over tiles of rows.
struct ElementStage {
  std::vector<Operand> operands;
  std::vector<ElementInstruction> instructions;
  std::int64_t tile_rows = 1;
  std::int64_t register_width = 0;  ///< padded
  int registers = 0;
  bool prefetches_before = false;                 ///< loads also prefetch the operands of the previous step
  std::shared_ptr<const CompiledStage> compiled;  ///< null: the stage is interpreted
};

/// Products through one packed weight stack: several outputs of one operand (forward), or one sum over several
/// operands (backward).
struct ProductStage {
  int stack = -1;
  std::vector<Operand> operands;
  std::vector<std::int64_t> operand_widths;  ///< unpadded, of one group
  std::vector<Operand> outputs;
  std::vector<std::int64_t> output_widths;  ///< unpadded, of one group
  std::int64_t groups = 1;                  ///< groups of the operand, each multiplied separately
  std::vector<Operand> prefetched;          ///< fetched during the product
};

using Stage = std::variant<ElementStage, ProductStage>;
using Phase = std::vector<Stage>;

/// Weights packed side by side (forward) or, transposed, one below the other (backward).
struct WeightStack {
  std::vector<int> weights;
  bool transposed = false;
  std::int64_t k = 0, columns = 0;  ///< columns padded
  bool operator==(const WeightStack&) const = default;
};

/// A layer ready to run: LayerOps with its products stacked, its element-wise work fused into stages, and every
/// value located.
struct LayerSchedule : Passes<Phase> {
  std::vector<Array> arrays;
  std::vector<WeightStack> stacks;
  /// Columns of narrow matrices. Among weight vectors, their numbers follow the weights' own.
  struct WeightColumn {
    int weight;
    std::int64_t column;
    bool operator==(const WeightColumn&) const = default;
  };
  std::vector<WeightColumn> columns;
  struct MatrixGradient {
    int weight;
    Operand delta, operand;
    std::int64_t groups;
  };
  /// A column or row of a narrow matrix's gradient, or the gradient of a vector (without a factor).
  struct NarrowGradient {
    std::vector<int> weights;       ///< all get the same: biases that are added together
    std::int64_t first, stride, n;  ///< elements first + i stride of the weight, i < n
    Operand rows;
    Operand factor;             ///< one element per row
    std::int64_t element = -1;  ///< the position of that element in the row; -1: no factor
  };
  std::vector<MatrixGradient> matrix_gradients;
  std::vector<NarrowGradient> narrow_gradients;
  Operand output;
  std::int64_t block = 0;
  std::vector<LayerOps::LaggedRead> lagged;  ///< tau: the weight's number
  std::vector<int> state_arrays;
  std::vector<int> grid_arrays;
  std::vector<LayerOps::Direct> direct;
  int input_array = -1, output_adjoint_array = -1, input_adjoint_array = -1;
  std::int64_t largest_tile = 0;   ///< elements of all registers of the largest stage
  std::int64_t group_columns = 0;  ///< padded columns of the widest grouped product; 0: none
  std::size_t largest_stage = 0;   ///< operands of the largest stage
};

}  // namespace lagtape::recurrence
