#include "lagtape/ops/recurrence/jit/stage_emitter.h"

#include <algorithm>
#include <map>

#include "lagtape/ops/recurrence/jit/code_offset.h"
#include "lagtape/ops/recurrence/jit/list_scheduler.h"
#include "lagtape/ops/recurrence/jit/vector_emitter.h"

namespace lagtape::recurrence {
namespace {

using Xbyak::Address;
using Xbyak::Reg64;

/// The body of the loop: the program for a number of vectors at a time, its instructions in order.
struct Body {
  VectorProgram program;
  int vectors = 1;
};

/// Whether a division waits for another division's result.
bool divides_twice(const VectorProgram& program) {
  std::vector<bool> divided(program.values.size(), false);  // by value: whether it depends on a division
  for (const VectorInstruction& i : program.instructions) {
    const bool after = std::ranges::any_of(
        operands_of(i), [&](int v) { return v >= 0 && divided[static_cast<std::size_t>(v)]; });
    if (after && i.op == VectorOp::divide) return true;
    if (i.out >= 0) divided[static_cast<std::size_t>(i.out)] = after || i.op == VectorOp::divide;
  }
  return false;
}

/// The possible bodies, best first; the next one is tried if there are not enough registers. If each number
/// waits long for the previous one, processing several vectors at once pays off, even if values have to go
/// through memory: for avx2, two vectors if there is a division; for avx512, two if a division waits for
/// another, and four if there are steps on the grid, which wait for each other. Otherwise one vector keeps
/// avx512 busy. (A row has an even number of the smaller vectors.)
std::vector<Body> bodies_of(const VectorProgram& program, SimdLevel level, std::int64_t row_bytes) {
  constexpr int kAlive = 12, kAliveInTwo = 16, kAliveTogether = 24;
  const auto has = [&](VectorOp op) {
    return std::ranges::any_of(program.instructions, [op](const VectorInstruction& i) { return i.op == op; });
  };
  std::vector<Body> bodies;
  const auto together = [&](int vectors, int alive) {
    if (row_bytes % (vectors * (level == SimdLevel::avx512 ? 64 : 32)) == 0)
      bodies.push_back({list_scheduled(repeated(program, vectors), alive), vectors});
  };
  if (level != SimdLevel::avx512) {
    if (has(VectorOp::divide)) together(2, kAliveTogether);
  } else if (has(VectorOp::grid_step)) {
    for (int vectors : {4, 2}) together(vectors, kAliveTogether);
  } else if (divides_twice(program)) {
    together(2, kAliveInTwo);
  }
  bodies.push_back({list_scheduled(program, kAlive), 1});
  return bodies;
}

/// The function of one program: a loop over the vectors of all rows.
class StageEmitter : public VectorEmitter {
 public:
  StageEmitter(const Body& body, SimdLevel level, std::size_t element_bytes)
      : VectorEmitter(code_bytes(body.program), level, element_bytes),
        program_(body.program),
        step_bytes_(body.vectors * vector_bytes()),
        row_bytes_(program_.width * static_cast<std::int64_t>(element_bytes)),
        scale_(std::ranges::any_of(program_.instructions, &VectorInstruction::rounded) ? 2 : 1),
        number_row_bytes_(code_offset(program_.number_width * static_cast<std::int64_t>(element_bytes))),
        file_(program_, registers(),
              row_bytes_ == step_bytes_ ? Residents::constants_and_weights : Residents::constants) {}

  /// Emits the function. Returns false if there are not enough registers.
  bool generate() {
    number_operands();
    start();
    Xbyak::Label loop;
    L(loop);
    for (std::size_t i = 0; i < program_.instructions.size(); ++i)
      if (!instruction(i)) return false;
    advance(loop);
    leave(saved_);
    constants();
    return setProtectModeRE(false);
  }
  const std::vector<int>& operands() const { return operands_; }

 private:
  // Registers: rdi holds the pointers, rsi the byte count, rdx the offset in arrays, r15 the same one step
  // earlier, rcx the offset in the row, r14 the offset of the row that contains single numbers. If there are
  // arrays of rounded numbers, rsi, rdx, and r15 count half the bytes of the others, and scale factors
  // compensate.

  const std::vector<Reg64> saved_{rbx, r12, r13, r14, r15};
  const std::vector<Reg64> bases_{rbx, r8, r9, r10, r11, r12, r13};

  void number_operands() {
    const auto number = [&](int operand) {
      if (operand >= 0 && number_.try_emplace(operand, operands_.size()).second) operands_.push_back(operand);
    };
    for (const VectorInstruction& i : program_.instructions) {
      number(i.operand);
      number(i.operand_to);
    }
    for (const VectorValue& v : program_.values) number(v.operand);
  }

  void start() {
    enter(saved_);
    for (std::size_t s = 0; s < std::min(operands_.size(), bases_.size()); ++s)
      mov(bases_[s], ptr[rdi + static_cast<int>(8 * s)]);
    xor_(edx, edx);
    xor_(ecx, ecx);
    xor_(r14d, r14d);
    if (scale_ == 2) shr(rsi, 1);
    mov(r15, rsi);
    neg(r15);
    begin(program_, file_);
    load_residents();
  }

  void advance(const Xbyak::Label& loop) {
    add(rdx, step_bytes_ / scale_);
    add(r15, step_bytes_ / scale_);
    if (row_bytes_ > step_bytes_) {
      add(rcx, step_bytes_);
      lea(rax, ptr[r14 + number_row_bytes_]);
      cmp(rcx, code_immediate(row_bytes_));
      cmove(r14, rax);
      mov(eax, 0);  // preserves the flags
      cmove(rcx, rax);
    } else {
      add(r14, number_row_bytes_);
    }
    cmp(rdx, rsi);
    jb(loop, T_NEAR);
  }

  Reg64 base_of(int operand) {
    const std::size_t s = number_.at(operand);
    if (s < bases_.size()) return bases_[s];
    mov(rax, ptr[rdi + static_cast<int>(8 * s)]);
    return rax;
  }
  Address array_at(int operand, int offset, int scale) override {
    return ptr[base_of(operand) + rdx * (scale * scale_) + offset];
  }
  Address array_before(int operand, int offset) override {
    return ptr[base_of(operand) + r15 * scale_ + offset];
  }
  Address rounded_at(int operand, int offset) override { return ptr[base_of(operand) + rdx + offset]; }
  Address rounded_before(int operand, int offset) override { return ptr[base_of(operand) + r15 + offset]; }
  Address number_at(int operand, int offset) override { return ptr[base_of(operand) + r14 + offset]; }
  Address weight_at(int operand, int offset) override { return ptr[base_of(operand) + rcx + offset]; }

  const VectorProgram program_;
  const int step_bytes_;  // bytes of a row that the loop processes at a time
  const std::int64_t row_bytes_;
  const int scale_;  // bytes of an array per byte counted in the registers
  const int number_row_bytes_;
  RegisterAllocator file_;
  std::vector<int> operands_;
  std::map<int, std::size_t> number_;  // by operand of the stage
};

}  // namespace

template <class T>
EmittedStage emit(const VectorProgram& program, SimdLevel level) {
  if (level == SimdLevel::generic) return {};
  try {
    for (const Body& body : bodies_of(program, level, program.width * static_cast<std::int64_t>(sizeof(T)))) {
      const auto code = std::make_shared<StageEmitter>(body, level, sizeof(T));
      if (code->generate()) return {code->getCode<StageFunction>(), code->operands(), code};
    }
  } catch (const Xbyak::Error&) {    // no memory for code
  } catch (const OffsetTooLarge&) {  // a row of gigabytes
  }
  return {};
}

template EmittedStage emit<float>(const VectorProgram&, SimdLevel);
template EmittedStage emit<double>(const VectorProgram&, SimdLevel);

}  // namespace lagtape::recurrence
