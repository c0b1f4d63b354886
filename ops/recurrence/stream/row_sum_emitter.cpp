#include "lagtape/ops/recurrence/stream/row_sum_emitter.h"

#include <algorithm>

namespace lagtape::recurrence {

using Xbyak::Address;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Zmm;

namespace {

constexpr std::int64_t kUnrolled = 512;     // maximum multiply-adds of an unrolled product
constexpr std::int64_t kUnrolledTerms = 8;  // terms per iteration of the loop over longer sums
constexpr int kElement = 31;                // the register of an element of an operand
constexpr int kElements = 29;               // and of kQuarter bytes of them, repeated four times
constexpr std::int64_t kQuarter = 16;
constexpr std::size_t kRoundingBytes = 96;  // maximum code bytes to round a vector of an operand
constexpr int kNotFinite = 0x99;            // a number class: both kinds of NaN, both infinities
constexpr std::size_t kMultiplyAddBytes =
    16;  // maximum code bytes, including its share of the surrounding code

/// The part of a register that the sums occupy.
Xmm part(const Zmm& reg, const RowPass::Products& p) {
  const auto kind = p.vector_bytes == 64   ? Xbyak::Operand::ZMM
                    : p.vector_bytes == 32 ? Xbyak::Operand::YMM
                                           : Xbyak::Operand::XMM;
  return Xmm(kind, reg.getIdx());
}

}  // namespace

std::size_t RowSumEmitter::code_bytes_of_sums(const RowPass& pass) {
  std::size_t bytes = 0;
  for (const RoundedOperand& r : pass.rounded)
    bytes += 256 + static_cast<std::size_t>(r.k) / 16 * kRoundingBytes;
  bytes += 64 * pass.integer_sums.size();
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

void RowSumEmitter::round_operand(const RoundedOperand& operand) {
  operand.format == ProductFormat::bf16 ? round_to_bf16(operand) : quantize(operand);
}

/// Loads the numbers from `at` on, out of k, followed by zeros: the memory after them does not belong to an
/// operand.
void RowSumEmitter::load_rest(std::int64_t k, std::int64_t at) {
  const Address from = ptr[r9 + code_offset(at * element_bytes_)];
  const std::int64_t count = k - at;
  if (count >= 16) {
    vmovups(Zmm(31), from);
  } else if (count <= 0) {
    vpxord(Zmm(31), Zmm(31), Zmm(31));
  } else {
    mov(eax, static_cast<std::uint32_t>((1U << count) - 1));
    kmovw(k1, eax);
    vmovups(Zmm(31) | k1 | T_z, from);
  }
}

void RowSumEmitter::round_to_bf16(const RoundedOperand& operand) {
  load_pointer(r9, operand.from);
  for (std::int64_t at = 0; at < operand.k; at += 32) {
    load_rest(operand.k, at);
    vmovaps(Zmm(30), Zmm(31));
    load_rest(operand.k, at + 16);
    vcvtne2ps2bf16(Zmm(31), Zmm(31), Zmm(30));
    const Reg64 base = base_of(operand.to);
    const Address to = ptr[base + bytes_to(operand.to, code_offset(2 * at))];
    operand.k - at > 16 ? vmovups(to, Zmm(31)) : vmovups(to, Xbyak::Ymm(31));
  }
}

void RowSumEmitter::quantize(const RoundedOperand& operand) {
  load_pointer(r9, operand.from);
  const auto constant = [&](int i) {
    return ptr_b[base_of(operand.constants) + bytes_to(operand.constants, 4 * i)];
  };
  kxorw(k2, k2, k2);
  for (std::int64_t at = 0; at < operand.k; at += 16) {
    load_rest(operand.k, at);
    vfpclassps(k3, Zmm(31), kNotFinite);
    korw(k2, k2, k3);
    vmulps(Zmm(31), Zmm(31), constant(0));
    vminps(Zmm(31), Zmm(31), constant(1));
    vmaxps(Zmm(31), Zmm(31), constant(2));
    vcvtps2dq(Zmm(31), Zmm(31));
    vpaddd(Zmm(31), Zmm(31), constant(3));
    vpmovdb(ptr[base_of(operand.to) + bytes_to(operand.to, code_offset(at))], Zmm(31));
  }
  kmovw(eax, k2);
  neg(eax);       // sets the carry flag unless all are finite
  sbb(eax, eax);  // all bits set, or none
  mov(dword[rdi + bytes_to(operand.not_finite)], eax);
}

void RowSumEmitter::finish(const IntegerSum& sum, const Zmm& reg, bool in_strips) {
  const auto at = [&](const RowAddress& place) {
    const int bytes = bytes_to(place, code_offset(sum.vector * vector_bytes()));
    return in_strips ? ptr[base_of(place) + rdx + bytes] : ptr[base_of(place) + bytes];
  };
  vpaddd(reg, reg, at(sum.corrections));
  vcvtdq2ps(reg, reg);
  vmulps(reg, reg, at(sum.scales));
  vpord(reg, reg, ptr_b[rdi + bytes_to(sum.not_finite)]);
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
    for (std::int64_t i = done; i < p.k; ++i) {
      next_element(p, i - done, p.k - done);
      multiply_add(p, sum, packed + i * term - moved);
    }
    packed += p.k * term;
    sum += p.count;
  }
  if (moved != 0) sub(r8, code_immediate(moved));
}

bool RowSumEmitter::is_number(const RowPass::Products& p) const { return p.vector_bytes == element_bytes_; }

void RowSumEmitter::add_terms(const RowPass::Products& p, const Zmm* sums, std::int64_t element,
                              std::int64_t packed) {
  load_element(p, element);
  multiply_add(p, sums, packed);
}

void RowSumEmitter::load_element(const RowPass::Products& p, std::int64_t element) {
  const Address from = ptr[r9 + code_offset(element * element_bytes_)];
  if (is_number(p)) {
    float_ ? vmovss(Xmm(kElement), from) : vmovsd(Xmm(kElement), from);
  } else {
    float_ ? vbroadcastss(Zmm(kElement), from) : vbroadcastsd(Zmm(kElement), from);
  }
}

/// Elements in turn, loaded a quarter of a vector at a time: if a processor loads one vector per cycle, those
/// loads are needed for the weights.
void RowSumEmitter::next_element(const RowPass::Products& p, std::int64_t element, std::int64_t count) {
  const std::int64_t together = kQuarter / element_bytes_;
  if (is_number(p) || element >= count / together * together) return load_element(p, element);
  const Zmm quarter(kElements);
  const std::int64_t place = element % together;
  if (place == 0) vbroadcastf32x4(quarter, ptr[r9 + code_offset(element * element_bytes_)]);
  const auto everywhere = static_cast<std::uint8_t>(place * (float_ ? 0x55 : 0xff));
  float_ ? vpermilps(Zmm(kElement), quarter, everywhere) : vpermilpd(Zmm(kElement), quarter, everywhere);
}

void RowSumEmitter::multiply_add(const RowPass::Products& p, const Zmm* sums, std::int64_t packed) {
  for (int c = 0; c < p.count; ++c) {
    const Xmm out = part(sums[c], p);
    const Address right = ptr[r8 + code_offset(packed + c * p.vector_bytes)];
    if (is_number(p)) {
      float_ ? vfmadd231ss(out, Xmm(kElement), right) : vfmadd231sd(out, Xmm(kElement), right);
    } else {
      add_term(p, out, right);
    }
  }
}

void RowSumEmitter::add_term(const RowPass::Products& p, const Xmm& out, const Address& right) {
  const Xmm left = part(Zmm(kElement), p);
  switch (p.format) {
    case ProductFormat::bf16: return vdpbf16ps(out, left, right);
    case ProductFormat::int8: return vpdpbusd(out, left, right);
    default: float_ ? vfmadd231ps(out, left, right) : vfmadd231pd(out, left, right);
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
  next_element(p, terms.element, p.k);
  multiply_add(p, sums.data() + terms.sum, terms.packed);
  terms.packed += p.count * p.vector_bytes;
  if (++terms.element < p.k) return true;
  ++terms.product;
  terms.sum += static_cast<std::size_t>(p.count);
  terms.element = 0;
  return true;
}

}  // namespace lagtape::recurrence
