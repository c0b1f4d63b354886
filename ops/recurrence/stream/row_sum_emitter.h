#pragma once

#include <vector>

#include "lagtape/ops/recurrence/jit/code_offset.h"
#include "lagtape/ops/recurrence/jit/vector_emitter.h"
#include "lagtape/ops/recurrence/stream/row_program.h"

namespace lagtape::recurrence {

/// Emits, for avx512, the product sums with which the work on a vector starts, and the addresses of a stream's
/// rows. Expects rdi (memory), rcx (moving states), and r10 (packed weights) to be set; r8 points to the packed
/// weights of the current sums, r9 to an operand; rax is scratch.
class RowSumEmitter : public VectorEmitter {
 protected:
  RowSumEmitter(std::size_t code_bytes, std::size_t element_bytes)
      : VectorEmitter(code_bytes, SimdLevel::avx512, element_bytes),
        element_bytes_(static_cast<std::int64_t>(element_bytes)) {}

  /// The maximum code size of a pass's sums, in bytes.
  static std::size_t code_bytes_of_sums(const RowPass& pass);

  // ---- places ----

  /// An address; it may use rax, so it is valid only until the next call.
  Xbyak::Reg64 base_of(const RowAddress& place);
  int bytes_to(const RowAddress& place, int offset = 0) const {
    return code_offset(place.bytes[odd_] + offset);
  }
  void load_pointer(const Xbyak::Reg64& reg, const RowAddress& place);

  // ---- operands ----

  /// Writes the slots of an operand. Uses r9, rax and the scratch registers.
  void round_operand(const RoundedOperand& operand);

  // ---- sums ----

  /// Whether the sums are written out term by term, without a loop.
  static bool is_unrolled(const RowPass::Products& p);
  /// Registers of a pass's sums: the last ones, so that the next vector's sums can be computed while these are
  /// used.
  std::vector<Xbyak::Zmm> sums_of(const RowPass& pass) const;
  void clear(const std::vector<Xbyak::Zmm>& sums);
  /// Computes all sums from zero, those of a long operand in a loop. Preserves r8.
  void add_products(const RowPass& pass, const std::vector<Xbyak::Zmm>& sums);
  /// Adds the terms of one element of the operand at r9, whose packed weights start `packed` bytes after r8.
  void add_terms(const RowPass::Products& p, const Xbyak::Zmm* sums, std::int64_t element,
                 std::int64_t packed);

  /// How far the elements of a pass's operands have been added, one operand after the other.
  struct Terms {
    std::size_t product = 0;
    std::int64_t element = 0, packed = 0;  ///< packed: bytes
    std::size_t sum = 0;
  };
  static std::int64_t term_count(const RowPass& pass);
  /// Adds the terms of the next element. Returns false if none is left.
  bool add_next(const RowPass& pass, const std::vector<Xbyak::Zmm>& sums, Terms& terms);

  /// Turns an integer sum in a register into its value; rdx as for arrays.
  void finish(const IntegerSum& sum, const Xbyak::Zmm& reg, bool in_strips);

  /// Registers for sums and their element-wise work. One more holds elements of an operand, and two are
  /// scratch.
  static constexpr int kRegisters = 29;

  std::size_t odd_ = 0;  ///< whether the step is an odd one
  int reserved_ = 0;     ///< number of registers used by other sums

 private:
  void load_rest(std::int64_t k, std::int64_t at);
  void round_to_bf16(const RoundedOperand& operand);
  void quantize(const RoundedOperand& operand);
  bool is_number(const RowPass::Products& p) const;  ///< whether its sum is a single number
  void load_element(const RowPass::Products& p, std::int64_t element);
  void next_element(const RowPass::Products& p, std::int64_t element, std::int64_t count);
  void multiply_add(const RowPass::Products& p, const Xbyak::Zmm* sums, std::int64_t packed);
  void add_term(const RowPass::Products& p, const Xbyak::Xmm& out, const Xbyak::Address& right);

  const std::int64_t element_bytes_;
};

}  // namespace lagtape::recurrence
