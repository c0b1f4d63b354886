#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <variant>
#include <vector>

#include "lagtape/core/random.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::test {

using namespace recurrence;

inline std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.next_below(high - low + 1));
}

/// Steps that the arrays of a stage hold.
inline constexpr std::int64_t kStageSteps = 6;

/// A stage with everything that it needs to run except for numbers.
struct StageCase {
  StepProgram program;
  LayerSchedule schedule;
  std::int64_t rows = 1, step = 2, count = 1;

  ElementStage& stage() { return std::get<ElementStage>(schedule.forward.step.front()); }
};

/// Instructions of any element-wise operation that does not call the C library, and products with a number of
/// a row, on registers, weights and a few arrays; results go to registers and, in place or not, to arrays.
template <class T>
class RandomStage {
 public:
  explicit RandomStage(std::uint64_t seed) : random_(seed, 1), units_(between(random_, 1, 50)) {
    case_.rows = between(random_, 1, 19);
    for (std::int64_t w = between(random_, 1, 3); w > 0; --w)
      case_.program.weights.push_back({"b", {units_}});
    declare_arrays();
    stage_.register_width = width_;
    stage_.tile_rows = std::max<std::int64_t>(1, kTileElements / width_);
    stage_.registers = static_cast<int>(between(random_, 2, 30));
    for (std::int64_t i = between(random_, 1, 40); i > 0; --i) add_instruction(i == 1);
  }

  StageCase take() {
    case_.schedule.largest_tile = stage_.registers * stage_.tile_rows * width_;
    case_.schedule.largest_stage = stage_.operands.size();
    case_.schedule.forward.step.push_back(stage_);
    return std::move(case_);
  }

 private:
  void declare_arrays() {
    constexpr Array::Kind kKinds[] = {Array::Kind::state, Array::Kind::saved, Array::Kind::step};
    bool one_step = false;
    for (std::int64_t a = between(random_, 1, 6); a > 0; --a) {
      case_.schedule.arrays.push_back({kKinds[random_.next_below(3)], 0, units_});
      one_step = one_step || case_.schedule.arrays.back().kind == Array::Kind::step;
    }
    case_.count = one_step ? 1 : between(random_, 1, 3);
    saved_ = static_cast<int>(case_.schedule.arrays.size());
    for (int a = 0; a < 2; ++a) case_.schedule.arrays.push_back({Array::Kind::saved, 0, units_, true});
    input_ = static_cast<int>(case_.schedule.arrays.size());
    case_.schedule.arrays.push_back({Array::Kind::input, 0, units_});
  }

  void add_instruction(bool last) {
    constexpr double kNumbers[] = {0, -0.0, 1, 2, -0.75, 3e38, 1e-39, INFINITY};
    ElementInstruction t;
    do {
      t.element = static_cast<ElementOp>(random_.next_below(static_cast<std::uint64_t>(ElementOp::count)));
    } while (function_of(t.element).calls_library);
    t.a = any_operand();
    t.b = any_operand();
    t.c = any_operand();
    t.k = t.element == ElementOp::greater ? static_cast<double>(between(random_, 0, 1))
                                          : kNumbers[random_.next_below(std::size(kNumbers))];
    t.width = width_;
    t.shape = RowShape::vector(units_);
    if (random_.next_uniform() < 0.1) make_narrow_product(t);
    if (const double choice = random_.next_uniform(); choice < 0.2) return convert(t, choice < 0.1);
    if (!last && random_.next_uniform() < 0.7) {
      written_.push_back(static_cast<int>(random_.next_below(stage_.registers)));
      t.out = operand({Operand::Kind::tile, written_.back(), 0, 0});
    } else {
      t.out = array();
    }
    stage_.instructions.push_back(t);
  }

  /// Saves an operand, or restores one from the other array of rounded numbers.
  void convert(ElementInstruction& t, bool saves) {
    t.kind = saves ? Op::Kind::save : Op::Kind::restore;
    t.element = ElementOp::copy;
    t.b = t.c = -1;
    const Operand rounded{Operand::Kind::array, saves ? saved_ : saved_ + 1, between(random_, -1, 1), width_,
                          true};
    if (saves) {
      t.out = operand(rounded);
    } else {
      t.a = operand(rounded);
      t.out = array();
    }
    stage_.instructions.push_back(t);
  }

  void make_narrow_product(ElementInstruction& t) {
    t.kind = Op::Kind::narrow_product;
    t.index = static_cast<int>(random_.next_below(units_));
    t.a = operand({Operand::Kind::array, input_, 0, width_});
    t.b = operand({Operand::Kind::weight, 0, 0, width_});
    if (random_.next_uniform() < 0.3) t.c = -1;
  }

  int operand(const Operand& s) {
    const auto known = std::ranges::find(stage_.operands, s);
    const auto number = static_cast<int>(known - stage_.operands.begin());
    if (known == stage_.operands.end()) stage_.operands.push_back(s);
    return number;
  }

  int array() {
    const auto index = static_cast<int>(random_.next_below(saved_));
    return operand({Operand::Kind::array, index, between(random_, -1, 1), width_});
  }

  int any_operand() {
    const double choice = random_.next_uniform();
    if (!written_.empty() && choice < 0.6)
      return operand({Operand::Kind::tile, written_[random_.next_below(written_.size())], 0, 0});
    if (choice >= 0.7) return array();
    const auto weight = static_cast<int>(random_.next_below(case_.program.weights.size()));
    return operand({Operand::Kind::weight, weight, 0, width_});
  }

  RandomStream random_;
  StageCase case_;
  ElementStage stage_;
  const std::int64_t units_, width_ = padded<T>(units_);
  int saved_ = -1;            // the first of two arrays of rounded numbers
  int input_ = -1;            // the array whose single numbers are read
  std::vector<int> written_;  // registers that hold something
};

template <class T>
StageCase random_stage(std::uint64_t seed) {
  return RandomStage<T>(seed).take();
}

}  // namespace lagtape::test
