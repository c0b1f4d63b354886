#pragma once

// A vector that records the operations on it. Applied to it, the kernels' own formulas produce the instructions
// of a VectorProgram, so no formula is written twice.

#include <bit>
#include <map>
#include <type_traits>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// Writes the instructions of a VectorProgram.
class VectorRecorder {
 public:
  explicit VectorRecorder(VectorProgram& program) : program_(program) {}

  int constant(std::uint64_t bits) {
    const auto [known, fresh] = constants_.try_emplace(bits);
    if (fresh) known->second = add({VectorValue::Kind::constant, bits, -1});
    return known->second;
  }
  int weight(int operand) { return add({VectorValue::Kind::weight, 0, operand}); }
  /// The value of an instruction. Equal results are not recomputed.
  int compute(VectorInstruction instruction) {
    if (instruction.op == VectorOp::load) return added(instruction);
    const auto [known, fresh] = results_.try_emplace(instruction);
    if (fresh) known->second = added(instruction);
    return known->second;
  }
  int grid_step(int from, int to, int increment, bool negated) {
    VectorInstruction instruction{VectorOp::grid_step};
    instruction.a = increment;
    instruction.operand = from;
    instruction.operand_to = to;
    instruction.negated = negated;
    return added(instruction);
  }
  void store(int operand, int value, bool rounded) {
    VectorInstruction instruction{VectorOp::store};
    instruction.rounded = rounded;
    instruction.a = value;
    instruction.operand = operand;
    program_.instructions.push_back(instruction);
  }

 private:
  int add(VectorValue value) {
    program_.values.push_back(value);
    return static_cast<int>(program_.values.size()) - 1;
  }
  int added(VectorInstruction instruction) {
    instruction.out = add({});
    program_.instructions.push_back(instruction);
    return instruction.out;
  }

  VectorProgram& program_;
  std::map<std::uint64_t, int> constants_;    // by their bits
  std::map<VectorInstruction, int> results_;  // key of instructions, without `out`
};

/// A vector with elements of type E: the scalar, or the unsigned integer of its size. A number in a formula has
/// no recorder yet; it uses the other operand's.
template <class E>
class RecordedVector {
 public:
  using Number = std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint64_t>;

  RecordedVector() = default;
  RecordedVector(E number) : bits_(std::bit_cast<Number>(number)) {}
  RecordedVector(VectorRecorder& recorder, int value) : recorder_(&recorder), value_(value) {}
  template <class F>
  explicit RecordedVector(const RecordedVector<F>& same_bits)
      : recorder_(same_bits.recorder_), value_(same_bits.value_), bits_(same_bits.bits_) {}

  int in(VectorRecorder& recorder) const { return recorder_ != nullptr ? value_ : recorder.constant(bits_); }

  using V = RecordedVector;
  static constexpr bool kIsScalar = std::is_floating_point_v<E>;
  friend V operator+(V a, V b) { return binary(kIsScalar ? VectorOp::add : VectorOp::add_integers, a, b); }
  friend V operator-(V a, V b) {
    return binary(kIsScalar ? VectorOp::subtract : VectorOp::subtract_integers, a, b);
  }
  friend V operator*(V a, V b) { return binary(VectorOp::multiply, a, b); }
  friend V operator/(V a, V b) { return binary(VectorOp::divide, a, b); }
  friend V min(V a, V b) { return binary(VectorOp::minimum, a, b); }
  friend V max(V a, V b) { return binary(VectorOp::maximum, a, b); }
  friend V operator&(V a, V b) { return binary(VectorOp::bit_and, a, b); }
  friend V operator|(V a, V b) { return binary(VectorOp::bit_or, a, b); }
  friend V operator^(V a, V b) {
    if (a.recorder_ == nullptr && b.recorder_ == nullptr) return V(std::bit_cast<E>(a.bits_ ^ b.bits_));
    return binary(VectorOp::bit_xor, a, b);
  }
  friend V operator<<(V a, int n) { return shifted(VectorOp::shift_left, a, n); }
  friend V operator>>(V a, int n) { return shifted(VectorOp::shift_right, a, n); }
  friend V sqrt(V a) { return unary(VectorOp::square_root, a); }
  friend V abs(V a) { return binary(VectorOp::bit_and, a, V(std::bit_cast<E>(Number(~Number(0) >> 1)))); }
  static V multiply_add(V a, V b, V c) {
    VectorRecorder& recorder = any_recorder(a, b, c);
    return {recorder,
            recorder.compute({VectorOp::multiply_add, -1, a.in(recorder), b.in(recorder), c.in(recorder)})};
  }

  struct Mask {
    RecordedVector a, b;
    Comparison comparison;
  };
  friend Mask operator==(V a, V b) { return {a, b, Comparison::equal}; }
  friend Mask operator<(V a, V b) { return {a, b, Comparison::less}; }
  friend Mask operator<=(V a, V b) { return {a, b, Comparison::less_equal}; }
  friend Mask operator>(V a, V b) { return {a, b, Comparison::greater}; }
  friend Mask operator>=(V a, V b) { return {a, b, Comparison::greater_equal}; }
  friend V select(const Mask& mask, V yes, V no) {
    if (mask.a.recorder_ == nullptr && mask.b.recorder_ == nullptr) {
      if (mask.comparison != Comparison::equal)
        throw Error("[record] numbers are compared for equality only");
      return std::bit_cast<E>(mask.a.bits_) == std::bit_cast<E>(mask.b.bits_) ? yes : no;
    }
    VectorRecorder& recorder = any_recorder(mask.a, mask.b, yes);
    VectorInstruction instruction{
        VectorOp::select, -1, mask.a.in(recorder), mask.b.in(recorder), yes.in(recorder), no.in(recorder)};
    instruction.comparison = mask.comparison;
    return {recorder, recorder.compute(instruction)};
  }

 private:
  template <class F>
  friend class RecordedVector;

  static VectorRecorder& any_recorder(V a, V b, V c) {
    for (VectorRecorder* r : {a.recorder_, b.recorder_, c.recorder_})
      if (r != nullptr) return *r;
    throw Error("[record] numbers alone are not rounded here");
  }
  static V binary(VectorOp op, V a, V b) {
    VectorRecorder& recorder = any_recorder(a, b, b);
    return {recorder, recorder.compute({op, -1, a.in(recorder), b.in(recorder)})};
  }
  static V unary(VectorOp op, V a) {
    VectorRecorder& recorder = any_recorder(a, a, a);
    return {recorder, recorder.compute({op, -1, a.in(recorder)})};
  }
  static V shifted(VectorOp op, V a, int n) {
    VectorRecorder& recorder = any_recorder(a, a, a);
    VectorInstruction instruction{op, -1, a.in(recorder)};
    instruction.shift = n;
    return {recorder, recorder.compute(instruction)};
  }

  VectorRecorder* recorder_ = nullptr;
  int value_ = -1;
  Number bits_ = 0;
};

/// Counterpart of Simd<T, level> for levels with fused multiply-add.
template <class T>
struct RecordingSimd {
  using Scalar = T;
  using Vector = RecordedVector<T>;
  using Unsigned = typename Vector::Number;
  using Bits = RecordedVector<Unsigned>;
  static constexpr bool kFused = true;

  static Bits bits(Vector a) { return Bits(a); }
  static Vector value(Bits a) { return Vector(a); }
  static Vector fma(Vector a, Vector b, Vector c) { return Vector::multiply_add(a, b, c); }
};

}  // namespace lagtape::recurrence
