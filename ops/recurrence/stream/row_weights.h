#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/ops/kernels/int8.h"
#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/stream/row_program.h"

namespace lagtape::recurrence {

/// The operands and weights of a stage's products.
template <class T>
ProductFormat format_of(const CompiledStack<T>& stack, std::size_t layer, const ProductStage& p) {
  const ProductFormat format = stack.kernels(layer).products;
  const WeightStack& weights = stack.schedule(layer).stacks[p.stack];
  const bool is_small = format == ProductFormat::int8 && !takes_int8(weights.k, weights.columns);
  return is_small ? ProductFormat::scalar : format;
}

/// The products of a stage that share one width: a pass covers the vectors of one width.
struct RowProducts {
  const ProductStage* stage;
  std::vector<std::size_t> outputs;  ///< their indices among the stage's outputs

  std::size_t size() const { return outputs.size(); }
  const Operand& output(std::size_t i) const { return stage->outputs[outputs[i]]; }
  /// The first column of output i in the stage's packed weights.
  std::int64_t column(std::size_t i) const {
    std::int64_t column = 0;
    for (std::size_t before = 0; before < outputs[i]; ++before) column += stage->outputs[before].width;
    return column;
  }
};

/// A stage's products grouped by width.
inline std::vector<RowProducts> products_by_width(const ProductStage& stage) {
  std::vector<RowProducts> all;
  for (std::size_t o = 0; o < stage.outputs.size(); ++o) {
    const auto known = std::ranges::find(
        all, stage.outputs[o].width, [](const RowProducts& products) { return products.output(0).width; });
    if (known == all.end()) {
      all.push_back({&stage, {o}});
    } else {
      known->outputs.push_back(o);
    }
  }
  return all;
}

/// The number of groups. Does not allocate: streams call it when they are reset.
inline std::int64_t width_count(const ProductStage& stage) {
  std::int64_t count = 0;
  for (auto out = stage.outputs.begin(); out != stage.outputs.end(); ++out)
    count += std::find_if(stage.outputs.begin(), out,
                          [&](const Operand& o) { return o.width == out->width; }) == out;
  return count;
}

/// The weights of a RowProgram, packed one after another in the order in which its passes use them.
template <class T>
class RowWeights {
 public:
  /// `weights` as CompiledStack::load takes them.
  RowWeights(const CompiledStack<T>& stack, std::span<const Tensor> weights) : stack_(stack) {
    for (std::size_t l = 0; l < stack.layers(); ++l) {
      const std::size_t count = stack.program(l).weights.size();
      tensors_.push_back(weights.first(count));
      weights = weights.subspan(count);
    }
  }

  /// Packs a vector of numbers, and returns its place.
  RowAddress add(const T* from, std::int64_t count) {
    RowAddress to{RowAddress::Base::weights};
    to.bytes.fill(bytes());
    packed_.insert(packed_.end(), from, from + count);
    packed_.resize(padded<T>(std::ssize(packed_)));
    return to;
  }

  /// Packs the matrices of a pass's products.
  void add(RowPass& pass, std::size_t layer, const std::vector<RowProducts>& products) {
    pass.weights = bytes();
    for (std::int64_t turn = 0; turn < pass.vectors; ++turn)
      for (std::size_t p = 0; p < products.size(); ++p)
        for (std::int64_t i = 0; i < pass.products[p].k; ++i)
          for (std::int64_t v = turn * pass.together; v < (turn + 1) * pass.together; ++v)
            add_slot(layer, products[p], pass.products[p], v, i);
    packed_.resize(padded<T>(std::ssize(packed_)));
  }

  /// Packs what else the sums of quantized products need; `first` is the number of their first sum.
  void add_integer_sums(RowPass& pass, std::size_t layer, const RowProducts& p, int first) {
    if constexpr (sizeof(T) == 4) {
      RoundedOperand& rounded = pass.rounded.back();
      const WeightStack& stack = stack_.schedule(layer).stacks[p.stage->stack];
      const Int8Matrix matrix(stack_.weights(layer).stack(p.stage->stack), stack.k, stack.columns);
      const QuantizingConstants constants{matrix.inverse_scale(), kInt8Most, -kInt8Most, 128};
      rounded.constants = add(reinterpret_cast<const T*>(&constants), sizeof constants / sizeof(T));
      const int count = static_cast<int>(p.size());
      for (int o = 0; o < count; ++o) {
        const std::int64_t width = p.output(o).width, column = p.column(o);
        const auto* corrections = reinterpret_cast<const T*>(matrix.corrections() + column);
        IntegerSum sum{first + o, 0, add(corrections, width), add(matrix.scales() + column, width),
                       rounded.not_finite};
        for (; sum.vector < pass.together; ++sum.vector, sum.sum += count) pass.integer_sums.push_back(sum);
      }
    }
  }

  AlignedMemory memory() const {
    AlignedMemory memory = allocate_aligned(packed_.size() * sizeof(T));
    std::copy(packed_.begin(), packed_.end(), reinterpret_cast<T*>(memory.get()));
    return memory;
  }

 private:
  std::int64_t bytes() const { return std::ssize(packed_) * static_cast<std::int64_t>(sizeof(T)); }

  /// Slot i of vector v of the outputs.
  void add_slot(std::size_t layer, const RowProducts& products, const RowPass::Products& p, std::int64_t v,
                std::int64_t i) {
    const int stack = products.stage->stack;
    const WeightStack& weights = stack_.schedule(layer).stacks[stack];
    const std::int64_t count = p.vector_bytes / static_cast<std::int64_t>(sizeof(T));
    for (std::size_t o = 0; o < products.size(); ++o) {
      if (p.format == ProductFormat::scalar) {
        add_numbers(layer, weights.weights[products.outputs[o]], v, i, count);
        continue;
      }
      const std::int64_t column = products.column(o) + v * kLane<T>;
      const T* from = slots_of(stack_.weights(layer).stack(stack), weights, p, column, i);
      packed_.insert(packed_.end(), from, from + count);
    }
  }

  /// Slot i of the group of columns that starts at `column`, in the kernels' packed weights.
  static const T* slots_of(const T* packed, const WeightStack& weights, const RowPass::Products& p,
                           std::int64_t column, std::int64_t i) {
    if constexpr (sizeof(T) == 4) {
      if (p.format == ProductFormat::int8)
        return reinterpret_cast<const T*>(Int8Matrix(packed, weights.k, weights.columns).group(column)) +
               i * kLane<T>;
    }
    constexpr std::int64_t panel = 2 * kLane<T>;  // as product.inc.h packs for 64-byte vectors
    const std::int64_t start = column / panel * panel;
    return packed + start * p.k + i * std::min(panel, weights.columns - start) + (column - start);
  }

  /// Column i of a matrix [out, in], starting at row v * kLane; zeros beyond its rows.
  void add_numbers(std::size_t layer, int weight, std::int64_t v, std::int64_t i, std::int64_t count) {
    const Tensor& w = tensors_[layer][weight];
    const T* values = w.template values<T>().data();
    for (std::int64_t j = v * kLane<T>; j < v * kLane<T> + count; ++j)
      packed_.push_back(j < w.size(0) ? values[j * w.size(1) + i] : T(0));
  }

  const CompiledStack<T>& stack_;
  std::vector<std::span<const Tensor>> tensors_;  // by layer: its weights
  std::vector<T> packed_;
};

}  // namespace lagtape::recurrence
