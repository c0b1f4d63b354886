#include "lagtape/ops/recurrence/jit/stage_recorder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lagtape/ops/kernels/bf16_rounding.inc.h"
#include "lagtape/ops/kernels/element.inc.h"
#include "lagtape/ops/recurrence/jit/recorded_vector.h"

namespace lagtape::recurrence {
namespace {

// ---- the kernels' formulas, by operation ----

template <class T>
using Formula = RecordedVector<T> (*)(RecordedVector<T> a, RecordedVector<T> b, RecordedVector<T> c,
                                      RecordedVector<T> k);

/// Machine code cannot call the C library.
constexpr bool has_formula(ElementOp op) { return !function_of(op).calls_library; }

template <class T, int op = 0>
constexpr void fill_formulas(std::array<Formula<T>, static_cast<std::size_t>(ElementOp::count)>& formulas) {
  if constexpr (op < static_cast<int>(ElementOp::count)) {
    constexpr auto element = static_cast<ElementOp>(op);
    if constexpr (has_formula(element)) formulas[op] = &evaluate<RecordingSimd<T>, element>;
    fill_formulas<T, op + 1>(formulas);
  }
}

template <class T>
constexpr auto all_formulas() {
  std::array<Formula<T>, static_cast<std::size_t>(ElementOp::count)> formulas{};
  fill_formulas<T>(formulas);
  return formulas;
}

template <class T>
constexpr auto kFormulas = all_formulas<T>();

/// The constant of an instruction as a worker would use it: subnormal numbers are flushed.
template <class T>
T constant_of(double k) {
  const auto narrow = static_cast<T>(k);
  if (std::is_same_v<T, float> && std::fpclassify(narrow) == FP_SUBNORMAL) return std::copysign(T(0), narrow);
  return narrow;
}

// ---- stages ----

bool holds_one_step(const Array& array) {
  return array.kind == Array::Kind::step || array.kind == Array::Kind::direct;
}

bool is_grid(const ElementInstruction& t) {
  return t.kind == Op::Kind::grid_update || t.kind == Op::Kind::grid_undo;
}

bool converts(const ElementInstruction& t) { return t.kind == Op::Kind::save || t.kind == Op::Kind::restore; }

bool is_narrow_product(const ElementInstruction& t) { return t.kind == Op::Kind::narrow_product; }

/// Whether a VectorProgram can express the whole stage. Single numbers come from rows of one width.
bool is_plain(const ElementStage& stage, std::int64_t number_width) {
  const std::int64_t width = stage.register_width;
  const auto has_width = [&](int operand) {
    if (operand < 0) return true;
    const Operand& s = stage.operands[static_cast<std::size_t>(operand)];
    return s.kind == Operand::Kind::tile || s.width == width;
  };
  for (const ElementInstruction& t : stage.instructions) {
    if (t.width != width || !has_width(t.out) || !has_width(t.b) || !has_width(t.c)) return false;
    if (is_narrow_product(t)) {
      if (stage.operands[static_cast<std::size_t>(t.a)].width != number_width) return false;
    } else {
      const bool known = is_grid(t) || converts(t) || (t.kind == Op::Kind::element && has_formula(t.element));
      if (!has_width(t.a) || !known) return false;
    }
  }
  return true;
}

std::int64_t number_width_of(const ElementStage& stage) {
  const auto narrow = std::ranges::find_if(stage.instructions, is_narrow_product);
  return narrow == stage.instructions.end() ? 0 : stage.operands[static_cast<std::size_t>(narrow->a)].width;
}

/// For each operand, the first operand with the same location. An array of one step is the same location in all
/// steps.
std::vector<int> places_of(const ElementStage& stage, const std::vector<Array>& arrays) {
  std::vector<int> places;
  for (std::size_t i = 0; i < stage.operands.size(); ++i) {
    Operand operand = stage.operands[i];
    std::size_t first = 0;
    for (; first < i; ++first) {
      Operand other = stage.operands[first];
      if (operand.kind == Operand::Kind::array && other.kind == operand.kind &&
          other.index == operand.index && holds_one_step(arrays[static_cast<std::size_t>(operand.index)]))
        other.step = operand.step;
      if (other == operand) break;
    }
    places.push_back(static_cast<int>(first));
  }
  return places;
}

/// Whether the stage writes an array that it uses at two different steps.
bool mixes_steps(const ElementStage& stage, const std::vector<int>& places) {
  for (const ElementInstruction& t : stage.instructions) {
    const auto out = static_cast<std::size_t>(t.out);
    if (stage.operands[out].kind != Operand::Kind::array) continue;
    for (std::size_t i = 0; i < stage.operands.size(); ++i)
      if (stage.operands[i].kind == Operand::Kind::array &&
          stage.operands[i].index == stage.operands[out].index && places[i] != places[out])
        return true;
  }
  return false;
}

}  // namespace

template <class T>
std::optional<VectorProgram> record(const ElementStage& stage, const std::vector<Array>& arrays,
                                    bool stores_round) {
  const std::int64_t number_width = number_width_of(stage);
  if (!is_plain(stage, number_width)) return std::nullopt;
  const std::vector<int> places = places_of(stage, arrays);
  VectorProgram program;
  program.width = stage.register_width;
  program.number_width = number_width;
  program.single_step = mixes_steps(stage, places);

  VectorRecorder recorder(program);
  std::vector<int> holds(stage.operands.size(), -1);  // by location: its current value
  const auto in_halves = [&](int place) {
    return sizeof(T) == sizeof(float) && stage.operands[static_cast<std::size_t>(place)].rounded;
  };
  const auto operand = [&](int operand) -> RecordedVector<T> {
    if (operand < 0) return T(0);
    const int place = places[static_cast<std::size_t>(operand)];
    int& value = holds[static_cast<std::size_t>(place)];
    if (value < 0) {
      const Operand::Kind kind = stage.operands[static_cast<std::size_t>(place)].kind;
      if (kind == Operand::Kind::tile) throw Error("[record] a register is read before it is written");
      VectorInstruction load{VectorOp::load};
      load.operand = place;
      load.rounded = in_halves(place);
      load.prefetches_before = stage.prefetches_before &&
                               lies_over_sequence(stage.operands[static_cast<std::size_t>(place)], arrays);
      value = kind == Operand::Kind::weight ? recorder.weight(place) : recorder.compute(load);
    }
    return {recorder, value};
  };
  for (const ElementInstruction& t : stage.instructions) {
    int value = -1;
    if (is_grid(t)) {
      program.single_step = true;
      value = recorder.grid_step(t.b, t.c, operand(t.a).in(recorder), t.k < 0);
    } else if (t.kind == Op::Kind::restore) {
      value = operand(t.a).in(recorder);
    } else if (t.kind == Op::Kind::save) {
      const RecordedVector<T> a = operand(t.a);
      const bool in_store = stores_round && in_halves(t.out);
      value = (in_store ? a : vector_rounded_to_bf16<RecordingSimd<T>>(a)).in(recorder);
    } else if (is_narrow_product(t)) {
      VectorInstruction load{VectorOp::load_number};
      load.operand = places[static_cast<std::size_t>(t.a)];
      load.number = t.index;
      const RecordedVector<T> x(recorder, recorder.compute(load)), column = operand(t.b);
      value = (t.c < 0 ? x * column : RecordingSimd<T>::fma(x, column, operand(t.c))).in(recorder);
    } else {
      const RecordedVector<T> a = operand(t.a), b = operand(t.b), c = operand(t.c);
      value = kFormulas<T>[static_cast<std::size_t>(t.element)](a, b, c, constant_of<T>(t.k)).in(recorder);
    }
    const int place = places[static_cast<std::size_t>(t.out)];
    holds[static_cast<std::size_t>(place)] = value;
    if (stage.operands[static_cast<std::size_t>(place)].kind == Operand::Kind::array)
      recorder.store(place, value, in_halves(place));
  }
  return program;
}

template std::optional<VectorProgram> record<float>(const ElementStage&, const std::vector<Array>&, bool);
template std::optional<VectorProgram> record<double>(const ElementStage&, const std::vector<Array>&, bool);

}  // namespace lagtape::recurrence
