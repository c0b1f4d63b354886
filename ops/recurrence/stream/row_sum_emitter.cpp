#include "lagtape/ops/recurrence/stream/row_sum_emitter.h"

#include <algorithm>

namespace lagtape::recurrence {

using Xbyak::Address;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Zmm;

namespace {

constexpr std::int64_t kUnrolled = 512;        // most multiply-adds of an unrolled product
constexpr std::int64_t kUnrolledTerms = 8;     // terms in a turn of the loop over longer sums
constexpr int kElement = 31;                   // the register of an element of an operand
constexpr std::size_t kMultiplyAddBytes = 16;  // most bytes of code, with its share of the code around it

/// The part of a register that the sums fill.
Xmm part(const Zmm& reg, const RowPass::Products& p) {
  const auto kind = p.vector_bytes == 64   ? Xbyak::Operand::ZMM
                    : p.vector_bytes == 32 ? Xbyak::Operand::YMM
                                           : Xbyak::Operand::XMM;
  return Xmm(kind, reg.getIdx());
}

}  // namespace

std::size_t RowSumEmitter::code_bytes_of_sums(const RowPass& pass) {
  std::size_t bytes = 0;
  for (const auto& p : pass.products)
    bytes += 1024 + 2 * static_cast<std::size_t>(std::min(p.k * p.count, kUnrolled) + p.k + 64 * p.count) *
                        kMultiplyAddBytes;
  return bytes;
}

Reg64 RowSumEmitter::base_of(const RowAddress& place) {
  if (place.base == RowAddress::Base::memory) return rdi;
  if (place.base == RowAddress::Base::weights) return r10;
  mov(rax, ptr[rcx + 8 * place.state]);
  return rax;
}

void RowSumEmitter::load_pointer(const Reg64& reg, const RowAddress& place) {
  const Reg64 base = base_of(place);
  lea(reg, ptr[base + bytes_to(place)]);
}

bool RowSumEmitter::is_unrolled(const RowPass::Products& p) { return p.k * p.count <= kUnrolled; }

std::vector<Zmm> RowSumEmitter::sums_of(const RowPass& pass) const {
  int count = 0;
  for (const auto& p : pass.products) count += p.count;
  std::vector<Zmm> sums;
  for (int s = 0; s < count; ++s) sums.emplace_back(kRegisters - reserved_ - count + s);
  return sums;
}

void RowSumEmitter::clear(const std::vector<Zmm>& sums) {
  for (const Zmm& s : sums) vpxord(s, s, s);
}

void RowSumEmitter::add_products(const RowPass& pass, const std::vector<Zmm>& sums) {
  clear(sums);
  const Zmm* sum = sums.data();
  std::int64_t moved = 0, packed = 0;  // bytes
  for (const auto& p : pass.products) {
    load_pointer(r9, p.operand);
    const std::int64_t term = p.count * p.vector_bytes;
    std::int64_t done = 0;
    if (!is_unrolled(p)) {
      const std::int64_t rounds = p.k / kUnrolledTerms;
      if (packed != moved) add(r8, code_immediate(packed - moved));
      mov(eax, code_immediate(rounds));
      Xbyak::Label loop;
      align(32);
      L(loop);
      for (std::int64_t i = 0; i < kUnrolledTerms; ++i) add_terms(p, sum, i, i * term);
      add(r9, code_immediate(kUnrolledTerms * element_bytes_));
      add(r8, code_immediate(kUnrolledTerms * term));
      dec(eax);
      jnz(loop, T_NEAR);
      done = rounds * kUnrolledTerms;
      moved = packed + done * term;
    }
    for (std::int64_t i = done; i < p.k; ++i) add_terms(p, sum, i - done, packed + i * term - moved);
    packed += p.k * term;
    sum += p.count;
  }
  if (moved != 0) sub(r8, code_immediate(moved));
}

void RowSumEmitter::add_terms(const RowPass::Products& p, const Zmm* sums, std::int64_t element,
                              std::int64_t packed) {
  const bool number = p.vector_bytes == element_bytes_;
  const Xmm left(kElement);
  const Address from = ptr[r9 + code_offset(element * element_bytes_)];
  if (number) {
    float_ ? vmovss(left, from) : vmovsd(left, from);
  } else {
    float_ ? vbroadcastss(Zmm(kElement), from) : vbroadcastsd(Zmm(kElement), from);
  }
  for (int c = 0; c < p.count; ++c) {
    const Xmm out = part(sums[c], p);
    const Address right = ptr[r8 + code_offset(packed + c * p.vector_bytes)];
    if (number) {
      float_ ? vfmadd231ss(out, left, right) : vfmadd231sd(out, left, right);
    } else {
      float_ ? vfmadd231ps(out, part(Zmm(kElement), p), right)
             : vfmadd231pd(out, part(Zmm(kElement), p), right);
    }
  }
}

std::int64_t RowSumEmitter::term_count(const RowPass& pass) {
  std::int64_t count = 0;
  for (const auto& p : pass.products) count += p.k;
  return count;
}

bool RowSumEmitter::add_next(const RowPass& pass, const std::vector<Zmm>& sums, Terms& terms) {
  if (terms.product == pass.products.size()) return false;
  const auto& p = pass.products[terms.product];
  if (terms.element == 0) load_pointer(r9, p.operand);
  add_terms(p, sums.data() + terms.sum, terms.element, terms.packed);
  terms.packed += p.count * p.vector_bytes;
  if (++terms.element < p.k) return true;
  ++terms.product;
  terms.sum += static_cast<std::size_t>(p.count);
  terms.element = 0;
  return true;
}

}  // namespace lagtape::recurrence
