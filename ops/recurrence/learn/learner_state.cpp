#include "lagtape/ops/recurrence/learn/learner_state.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "lagtape/core/error.h"
#include "lagtape/core/hash.h"
#include "lagtape/core/simd/level.h"

namespace lagtape::recurrence {
namespace {

constexpr std::uint64_t kFormat = 0x3154'4154'534E'524C;  // "LRNSTAT1", least significant byte first

std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::size_t LearnerState::size() const {
  std::size_t size = sizeof(Header);
  for (const std::span<std::byte> part : parts_) size += part.size();
  return size;
}

void LearnerState::save(std::span<std::byte> to) const {
  if (to.size() != size())
    throw InputError({.op = "learner.save"}, Rule::shape,
                     text_of("the state of this learner has ", size(), " bytes"), text_of(to.size()));
  const std::span<std::byte> behind = to.subspan(sizeof(Header));
  std::byte* next = behind.data();
  for (const std::span<std::byte> part : parts_) next = std::ranges::copy(part, next).out;
  const Header header{kFormat, fnv1a(text_of_bytes(behind)), learner_, size(), level_};
  std::memcpy(to.data(), &header, sizeof(header));
}

void LearnerState::restore(std::span<const std::byte> from) {
  const auto refuse = [](Rule rule, const std::string& statement, const std::string& found = "") {
    throw InputError({.op = "learner.restore"}, rule, statement, found);
  };
  Header header;
  if (from.size() >= sizeof(header)) std::memcpy(&header, from.data(), sizeof(header));
  if (header.format != kFormat)
    refuse(Rule::wrong_type, "these bytes are no state of a learner that this version saves.");
  if (header.level != level_)
    refuse(Rule::conflict, text_of("this learner computes with ", name_of(static_cast<SimdLevel>(level_))),
           text_of("a state of ", name_of(static_cast<SimdLevel>(header.level))));
  if (header.learner != learner_)
    refuse(Rule::conflict,
           "the state is of another learner: its model's layers, scales and loss, the method, window, rule "
           "and precision "
           "must be the same.");
  if (from.size() != size() || header.size != size())
    refuse(Rule::damaged, text_of("the state of this learner has ", size(), " bytes"), text_of(from.size()));
  std::span<const std::byte> behind = from.subspan(sizeof(header));
  if (header.checksum != fnv1a(text_of_bytes(behind)))
    refuse(Rule::damaged, "the bytes of the state were changed.");
  for (const std::span<std::byte> part : parts_) {
    std::ranges::copy(behind.first(part.size()), part.begin());
    behind = behind.subspan(part.size());
  }
}

}  // namespace lagtape::recurrence
