#pragma once

// Machine code for the instructions of VectorPrograms. Derived classes define the addresses of arrays and
// weights.

#include <xbyak/xbyak.h>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "lagtape/core/simd/level.h"
#include "lagtape/ops/recurrence/jit/register_allocator.h"
#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// Whether machine code for a level rounds floats to bf16 as it stores them.
bool stores_round(SimdLevel level);

/// Functions with the System V calling convention, for avx2 or avx512 and elements of 4 or 8 bytes. Uses rbp,
/// rsp, rax, and the vector registers.
class VectorEmitter : public Xbyak::CodeGenerator {
 protected:
  VectorEmitter(std::size_t code_bytes, SimdLevel level, std::size_t element_bytes);

  /// The maximum size of a program's machine code in bytes.
  static std::size_t code_bytes(const VectorProgram& program);

  /// Addresses of operands, `offset` bytes after the current vector: in an array (a grid is `scale` times as
  /// wide), in the same array one step earlier, and in a weight; or of a single number, `offset` bytes after
  /// the start of the current row. An address may use rax, so it is valid only until the next call.
  virtual Xbyak::Address array_at(int operand, int offset, int scale) = 0;
  virtual Xbyak::Address array_before(int operand, int offset) = 0;
  virtual Xbyak::Address number_at(int operand, int offset) = 0;
  virtual Xbyak::Address weight_at(int operand, int offset) = 0;
  /// Addresses in an array of rounded floats, whose offsets are half as large as usual: of the current vector,
  /// and of the same vector one step earlier. Only stages have such arrays.
  virtual Xbyak::Address rounded_at(int operand, int offset);
  virtual Xbyak::Address rounded_before(int operand, int offset);
  /// Redirects a store's value. Returns true if it is then not stored in its usual place.
  virtual bool stored_elsewhere(const VectorInstruction& i, const Xbyak::Xmm& a);

  /// Emit the function's prologue, with stack space for values, and its epilogue. `saved`: callee-saved
  /// registers to save and restore.
  void enter(const std::vector<Xbyak::Reg64>& saved = {});
  void leave(const std::vector<Xbyak::Reg64>& saved = {});
  /// Starts to emit `program` in the registers of `file`. Both must live until it has been emitted.
  void begin(const VectorProgram& program, RegisterAllocator& file);
  void load_residents();
  /// Emits one instruction. Returns false if there are not enough registers.
  bool instruction(std::size_t at);
  /// Emits the constants. Call once, after everything else.
  void constants();

  int registers() const { return (wide_ ? 32 : 16) - 2; }  ///< without the scratch registers
  int vector_bytes() const { return bytes_; }
  Xbyak::Xmm vector(int reg) const;
  /// Two registers that hold nothing between instructions.
  Xbyak::Xmm scratch(int i) const;

  const bool float_;

 private:
  Xbyak::Address memory(int value);
  bool in_register(int value) const { return file_->register_of(value) >= 0; }
  Xbyak::Xmm loaded(int value, int scratch_number);
  template <class F>
  void with(int value, F f);
  bool is_computed(int value) const;
  int preferred_register(const VectorInstruction& i, std::size_t at) const;

  void load(const VectorInstruction& i);
  void store(const VectorInstruction& i);
  void binary(const VectorInstruction& i);
  void shift(const VectorInstruction& i);
  void select(const VectorInstruction& i);
  void step_of_doubles(const VectorInstruction& i, int part, const Xbyak::Xmm& increment,
                       const Xbyak::Xmm& beyond);
  void grid_step(const VectorInstruction& i);
  void grid_constants();
  void multiply_add(const VectorInstruction& i);

  const bool wide_;
  const int bytes_;  // bytes per vector
  const VectorProgram* program_ = nullptr;
  RegisterAllocator* file_ = nullptr;
  std::map<std::uint64_t, Xbyak::Label> constants_;  // by their bits
  enum GridConstant { kRounding, kBeyondGrid, kZeros, kGridConstants };
  std::array<Xbyak::Label, kGridConstants> grid_constants_;
  bool on_grid_ = false;
};

}  // namespace lagtape::recurrence
