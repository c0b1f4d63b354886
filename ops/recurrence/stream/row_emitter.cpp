#include "lagtape/ops/recurrence/stream/row_emitter.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <numeric>

#include "lagtape/ops/recurrence/stream/late_terms.h"
#include "lagtape/ops/recurrence/stream/row_sum_emitter.h"

namespace lagtape::recurrence {
namespace {

using Xbyak::Address;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Zmm;

constexpr std::int64_t kVector = 64;      // bytes
constexpr std::int64_t kNear = 24 << 10;  // bytes of weights that stay in the first-level cache

template <class T>
class RowEmitter : public RowSumEmitter {
 public:
  explicit RowEmitter(const RowProgram<T>& row) : RowSumEmitter(bytes_of(row), sizeof(T)), row_(row) {}

  bool generate() {
    for (odd_ = 0; odd_ < 2; ++odd_) {
      align(64);
      entries_[odd_] = getCurr<RowFunction<T>>();
      if (!step()) return false;
    }
    constants();
    for (Strips& strips : strips_) {
      L(strips.label);
      for (const auto& places : strips.places)
        for (std::int64_t bytes : places) dq(static_cast<std::uint64_t>(bytes));
    }
    return setProtectModeRE(false);
  }
  const std::array<RowFunction<T>, 2>& entries() const { return entries_; }

 private:
  static std::size_t bytes_of(const RowProgram<T>& row) {
    std::size_t bytes = 4096 + 64 * static_cast<std::size_t>(row.input_width + row.output_width);
    for (const RowPass& pass : row.passes) {
      bytes += 2 * code_bytes(pass.program) + 16 * static_cast<std::size_t>(pass.vectors + kRegisters);
      bytes += code_bytes_of_sums(pass);
    }
    return 2 * bytes;
  }

  // Registers in addition to those of the sums: rsi holds the input, then the strips of a pass; r11 the output;
  // rdx the vector's offset.

  bool step() {
    enter();
    mov(r11, rdx);
    mov(r10, reinterpret_cast<std::uint64_t>(row_.weights.get()));
    pass_ = nullptr;
    output_is_stored_ = false;
    copy_input();
    for (std::size_t i = 0; i < row_.passes.size(); ++i) {
      const RowPass &pass = row_.passes[i], *next = i + 1 < row_.passes.size() ? &pass + 1 : nullptr;
      const bool takes_next = next != nullptr && overlaps(pass) && sums_up(*next, pass);
      if (!emit_pass(pass, takes_next ? next : nullptr)) return false;
      if (takes_next) ++i;
    }
    pass_ = nullptr;
    if (!output_is_stored_) copy_output();
    for (std::size_t i = 0; i < row_.moving.size(); ++i)
      add(qword[rcx + static_cast<int>(8 * i)], code_immediate(row_.moving[i].bytes));
    leave();
    return true;
  }

  /// Calls f for whole vectors, then for the rest in halves: masked moves would touch memory next to the
  /// caller's numbers and delay it.
  template <class F>
  static void for_parts(std::int64_t width, F f) {
    int at = 0;
    const int bytes = code_offset(width * static_cast<std::int64_t>(sizeof(T)));
    for (int part = kVector; part >= static_cast<int>(sizeof(T)); part /= 2)
      for (; bytes - at >= part; at += part) f(part, at);
  }
  /// An output of at most one vector, with a size that has a move instruction, is stored from its register
  /// directly to the caller's memory: through its own memory, the next step would have to wait for it.
  bool stored_elsewhere(const VectorInstruction& i, const Xmm& a) override {
    if (pass_->vectors > 1 || i.vector > 0 ||
        !(pass_->places[static_cast<std::size_t>(i.operand)] == row_.output))
      return false;
    const int bytes = code_offset(row_.output_width * static_cast<std::int64_t>(sizeof(T)));
    if (bytes > kVector || !std::has_single_bit(static_cast<unsigned>(bytes))) return false;
    store_part(bytes, ptr[r11], a.getIdx());
    output_is_stored_ = true;
    return !row_.output_is_kept;
  }
  void load_part(int bytes, const Address& from) {
    switch (bytes) {
      case 64: return vmovups(Zmm(31), from);
      case 32: return vmovups(Xbyak::Ymm(31), from);
      case 16: return vmovups(Xmm(31), from);
      case 8: return vmovsd(Xmm(31), from);
      default: vmovss(Xmm(31), from);
    }
  }
  void store_part(int bytes, const Address& to, int reg = 31) {
    switch (bytes) {
      case 64: return vmovups(to, Zmm(reg));
      case 32: return vmovups(to, Xbyak::Ymm(reg));
      case 16: return vmovups(to, Xmm(reg));
      case 8: return vmovsd(to, Xmm(reg));
      default: vmovss(to, Xmm(reg));
    }
  }
  void copy_input() {
    const Reg64 to = pointer_to(row_.input);
    for_parts(row_.input_width, [&](int bytes, int at) {
      load_part(bytes, ptr[rsi + at]);
      // A part that is alone in its vector is stored together with the padding zeros, so that the vector can be
      // read as a whole.
      store_part(at % kVector == 0 ? 64 : bytes, ptr[to + at]);
    });
  }
  void copy_output() {
    const Reg64 from = pointer_to(row_.output);
    for_parts(row_.output_width, [&](int bytes, int at) {
      load_part(bytes, ptr[from + at]);
      store_part(bytes, ptr[r11 + at]);
    });
  }

  // ---- passes ----

  /// Emits a pass, interleaved with the sums of `follower` if there is one.
  bool emit_pass(const RowPass& pass, const RowPass* follower) {
    pass_ = &pass;
    for (const RoundedOperand& operand : pass.rounded) round_operand(operand);
    if (overlaps(pass)) return emit_overlapped(pass, follower);
    const bool loops = pass.vectors > 1;
    const std::int64_t last = odd_ ? 0 : pass.vectors - 1, first = odd_ ? pass.vectors - 1 : 0;
    const std::int64_t by = odd_ ? -1 : 1;
    load_weights_of(first);
    if (loops) {
      mov(edx, bytes_to_vector(first));
      load_residents_of(pass);
    }
    Xbyak::Label loop;
    L(loop);
    if (!work(pass, Beside::nothing, true)) return false;
    if (!loops) return true;
    add(r8, code_immediate(by * pass.packed_bytes()));
    add(rdx, static_cast<std::uint32_t>(by * pass.together * kVector));
    cmp(rdx, bytes_to_vector(last + by));
    jne(loop, T_NEAR);
    return true;
  }

  static bool overlaps(const RowPass& pass) {
    return pass.vectors > 1 && !pass.products.empty() &&
           std::ranges::all_of(pass.products, [](const auto& p) { return is_unrolled(p); });
  }
  /// Whether a pass only sums elements of a row that the previous pass stores, as a read-out does.
  static bool sums_up(const RowPass& pass, const RowPass& before) {
    if (pass.vectors > 1 || pass.products.size() != 1) return false;
    const RowPass::Products& p = pass.products.front();
    return p.format == ProductFormat::scalar && p.count == 1 && is_unrolled(p) &&
           std::ranges::any_of(before.program.instructions, [&](const VectorInstruction& i) {
             return i.op == VectorOp::store &&
                    before.places[static_cast<std::size_t>(i.operand)] == p.operand;
           });
  }

  /// Emits the work on each vector interleaved with the sums of the next one, and with the terms of a
  /// follower's sums as soon as their elements are available. At the end, that chain of sums would delay the
  /// step.
  bool emit_overlapped(const RowPass& pass, const RowPass* follower) {
    const std::vector<Zmm> late = follower != nullptr ? sums_of(*follower) : std::vector<Zmm>();
    reserved_ = static_cast<int>(late.size());
    clear(late);
    const std::vector<std::int64_t> order = order_of(pass);
    load_weights_of(order.front());
    add_products(pass, sums_of(pass));
    load_residents_of(pass);
    Strips& strips = strips_.emplace_back();
    LateTerms<T> terms(pass, follower);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      strips.places.push_back({bytes_to_vector(order[i]), pass.weights + order[i + 1] * pass.packed_bytes()});
      if (follower != nullptr) strips.places.push_back(terms.next_whole());
      terms.stored(order[i]);
    }
    lea(rsi, ptr[rip + strips.label]);
    Xbyak::Label loop;
    L(loop);
    if (follower != nullptr) add_late_terms_of_strip(*follower, late);
    mov(rdx, ptr[rsi]);
    mov(r8, ptr[rsi + 8]);
    add(r8, r10);
    add(rsi, follower != nullptr ? 32 : 16);
    if (!work(pass, Beside::next_vector)) return false;
    cmp(edx, bytes_to_vector(order.end()[-2]));
    jne(loop, T_NEAR);
    add_late_terms(follower, late, terms);
    mov(edx, bytes_to_vector(order.back()));
    if (!work(pass, Beside::nothing)) return false;
    terms.stored(order.back());
    add_late_terms(follower, late, terms);
    reserved_ = 0;
    pass_ = follower;
    return follower == nullptr || work(*follower, Beside::nothing);
  }

  void add_late_terms_of_strip(const RowPass& follower, const std::vector<Zmm>& sums) {
    const auto& p = follower.products.front();
    Xbyak::Label none;
    mov(rdx, ptr[rsi + 16]);
    mov(r8, ptr[rsi + 24]);
    test(rdx, rdx);
    js(none, T_NEAR);
    add(r8, r10);
    const Reg64 base = base_of(p.operand);
    lea(r9, ptr[base + rdx + bytes_to(p.operand)]);
    for (std::int64_t i = 0; i < kLane<T> * pass_->together; ++i)
      add_terms(p, sums.data(), i, i * p.vector_bytes);
    L(none);
  }
  void add_late_terms(const RowPass* follower, const std::vector<Zmm>& sums, LateTerms<T>& terms) {
    if (follower == nullptr) return;
    const auto& p = follower->products.front();
    load_pointer(r9, p.operand);
    lea(r8, ptr[r10 + code_offset(follower->weights)]);
    while (true) {
      const auto [first, count] = terms.next();
      if (count == 0) return;
      for (std::int64_t i = first; i < first + count; ++i) add_terms(p, sums.data(), i, i * p.vector_bytes);
    }
  }

  /// The order of the vectors: ascending, as the next pass reads them. If the weights do not stay in the
  /// first-level cache, the last two vectors of the previous step come first, the very last one first; in odd
  /// steps these are at most half a row.
  std::vector<std::int64_t> order_of(const RowPass& pass) const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(pass.vectors));
    std::iota(order.begin(), order.end(), 0);
    if (pass.vectors * pass.packed_bytes() <= kNear) return order;
    const std::int64_t half = std::min<std::int64_t>(2, pass.vectors / 2);
    const std::int64_t end = odd_ ? pass.vectors : pass.vectors - half, count = odd_ ? half : 2;
    for (std::int64_t v = std::max<std::int64_t>(0, end - count); v < end; ++v) {
      const auto at = std::find(order.begin(), order.end(), v);
      std::rotate(order.begin(), at, at + 1);
    }
    return order;
  }

  void load_weights_of(std::int64_t v) {
    lea(r8, ptr[r10 + code_offset(pass_->weights + v * pass_->packed_bytes())]);
  }
  /// The byte offset of a strip's first vector in a row.
  std::uint32_t bytes_to_vector(std::int64_t strip) const {
    return code_immediate(strip * pass_->together * kVector);
  }

  /// Registers for the work on a vector. If there is only one vector, its sums are placed first, in the first
  /// registers, which are then free for what follows.
  RegisterAllocator registers_of(const RowPass& pass) const {
    const int sums = pass.vectors > 1 ? static_cast<int>(sums_of(pass).size()) : 0;
    return {pass.program, kRegisters - reserved_ - sums,
            pass.keeps_constants() ? Residents::constants : Residents::none};
  }
  /// Emitted before the loop over vectors.
  void load_residents_of(const RowPass& pass) {
    RegisterAllocator file = registers_of(pass);
    begin(pass.program, file);
    load_residents();
  }

  enum class Beside : std::uint8_t { nothing, next_vector };
  /// The element-wise work on the vector at rdx.
  bool work(const RowPass& pass, Beside beside, bool with_sums = false) {
    const std::vector<Zmm> sums = sums_of(pass);
    if (with_sums) add_products(pass, sums);
    RegisterAllocator file = registers_of(pass);
    begin(pass.program, file);
    const auto& code = pass.program.instructions;
    std::size_t at = 0;
    for (; at < code.size() && code[at].op == VectorOp::product; ++at) {
      if (!instruction(at)) return false;
      const Zmm sum = sums[static_cast<std::size_t>(code[at].operand)];
      finish_sum(pass, code[at].operand, sum);
      vmovaps(vector(file.register_of(code[at].out)), sum);
    }
    if (pass.vectors == 1) load_residents();
    if (beside == Beside::nothing) {
      for (; at < code.size(); ++at)
        if (!instruction(at)) return false;
      return true;
    }
    clear(sums);
    Terms terms;
    const std::size_t first = at, rest = code.size() - first;
    const auto all = static_cast<std::size_t>(term_count(pass));
    for (std::size_t done = 1; add_next(pass, sums, terms); ++done)
      for (; (at - first) * all < rest * done; ++at)
        if (!instruction(at)) return false;
    return true;
  }

  void finish_sum(const RowPass& pass, int number, const Zmm& reg) {
    const auto sum = std::ranges::find(pass.integer_sums, number, &IntegerSum::sum);
    if (sum != pass.integer_sums.end()) finish(*sum, reg, pass.vectors > 1);
  }

  // ---- places ----

  Reg64 pointer_to(const RowAddress& place) {
    load_pointer(r9, place);
    return r9;
  }
  Address at(const RowAddress& place, int offset, int scale) {
    const Reg64 base = base_of(place);
    const int bytes = bytes_to(place, offset);
    return pass_->vectors > 1 ? ptr[base + rdx * scale + bytes] : ptr[base + bytes];
  }
  Address array_at(int operand, int offset, int scale) override {
    return at(pass_->places[static_cast<std::size_t>(operand)], offset, scale);
  }
  Address array_before(int operand, int offset) override { return array_at(operand, offset, 1); }
  Address number_at(int operand, int offset) override {
    const RowAddress& place = pass_->places[static_cast<std::size_t>(operand)];
    const Reg64 base = base_of(place);
    return ptr[base + bytes_to(place, offset)];
  }
  Address weight_at(int operand, int offset) override { return array_at(operand, offset, 1); }

  const RowProgram<T>& row_;
  const RowPass* pass_ = nullptr;
  bool output_is_stored_ = false;
  /// The strips of a pass whose vectors are computed together, except the last: the byte offset of each in a
  /// row, and of the packed weights of the next; then, with a follower, the byte offset of its late elements
  /// and their weights.
  struct Strips {
    Xbyak::Label label;
    std::vector<std::array<std::int64_t, 2>> places;
  };
  std::deque<Strips> strips_;
  std::array<RowFunction<T>, 2> entries_{};
};

}  // namespace

template <class T>
EmittedRow<T> emit(const RowProgram<T>& row) {
  try {
    const auto emitter = std::make_shared<RowEmitter<T>>(row);
    if (emitter->generate()) return {emitter->entries(), emitter};
  } catch (const Xbyak::Error&) {    // no memory for code
  } catch (const OffsetTooLarge&) {  // states or weights of gigabytes
  }
  return {};
}

template EmittedRow<float> emit(const RowProgram<float>&);
template EmittedRow<double> emit(const RowProgram<double>&);

}  // namespace lagtape::recurrence
