#include "lagtape/cells/models/stream_state.h"

#include <cstring>
#include <string>
#include <string_view>

#include "lagtape/core/error.h"
#include "lagtape/core/hash.h"

namespace lagtape {
namespace {

constexpr std::uint64_t kStateFormat =
    0x0131'4554'4154'534C;  // "LSTATE1" and a 1, if the least significant byte comes first

std::string_view raw_bytes(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()),
          static_cast<std::size_t>(tensor.numel()) * byte_size(tensor.dtype())};
}

/// A hash of the layers, the parameters and their numbers, which distinguishes models.
std::uint64_t hash_of(const Model& model) {
  std::uint64_t hash = 0;
  for (const std::string& layer : model.layer_names()) hash = hash_of_words(layer, hash);
  for (const Parameter& parameter : model.parameters()) {
    hash = hash_of_words(text_of(parameter.name, to_string(parameter.value.shape())), hash);
    hash = hash_of_words(raw_bytes(parameter.value), hash);
  }
  return hash;
}

/// The checksum of a header whose own checksum is 0, and of the numbers after it.
template <class Header>
std::uint64_t checksum_of(const Header& header, std::string_view behind) {
  return hash_of_words(behind, hash_of_words({reinterpret_cast<const char*>(&header), sizeof(header)}));
}

}  // namespace

StreamState::StreamState(const Model& model, const StreamOptions& options)
    : header_{.format = kStateFormat,
              .model = hash_of(model),
              .rows = options.rows,
              .rate = options.rate,
              .interpolation = static_cast<std::int32_t>(options.interpolation),
              .weights = options.weights ? static_cast<std::int32_t>(*options.weights) : -1} {}

std::size_t StreamState::size(const Window& window) {
  std::size_t size = sizeof(Header);
  for (const Tensor& state : window.states) size += raw_bytes(state).size();
  return size;
}

void StreamState::write(const Window& window, std::int64_t steps, std::span<std::byte> to) const {
  Header header = header_;
  header.steps = steps;
  std::byte* place = to.data() + sizeof(header);
  for (const Tensor& state : window.states) {
    const std::string_view bytes = raw_bytes(state);
    std::memcpy(place, bytes.data(), bytes.size());
    place += bytes.size();
  }
  const auto* behind = reinterpret_cast<const char*>(to.data()) + sizeof(header);
  header.checksum = checksum_of(header, {behind, to.size() - sizeof(header)});
  std::memcpy(to.data(), &header, sizeof(header));
}

std::int64_t StreamState::read(std::span<const std::byte> from, Window& window, const char* op) const {
  const auto refuse = [&](std::string_view statement, const std::string& found) {
    throw InputError({.op = op}, Rule::conflict, statement, found);
  };
  Header header;
  if (from.size() < sizeof(header))
    refuse(text_of("a state has a header of ", sizeof(header), " bytes"), text_of(from.size(), " bytes"));
  std::memcpy(&header, from.data(), sizeof(header));
  if (header.format != kStateFormat)
    throw InputError({.op = op}, Rule::wrong_type, "these bytes are no state that this version saves.");
  if (header.model != header_.model) refuse("the state is of another model", "");
  if (header.rows != header_.rows)
    refuse(text_of("this stream has ", header_.rows, " rows"), text_of("a state of ", header.rows));
  if (header.rate != header_.rate || header.interpolation != header_.interpolation)
    refuse(text_of("this stream has the rate ", header_.rate),
           text_of("a state of the rate ", header.rate, " or of another interpolation"));
  if (header.weights != header_.weights)
    refuse("the state is of a stream with weights of another format", "");
  if (const std::size_t expected = size(window); from.size() != expected)
    refuse(text_of("the state of this stream has ", expected, " bytes"), text_of(from.size()));
  const std::uint64_t checksum = header.checksum;
  header.checksum = 0;
  const std::string_view behind(reinterpret_cast<const char*>(from.data()) + sizeof(header),
                                from.size() - sizeof(header));
  if (checksum_of(header, behind) != checksum)
    throw InputError({.op = op}, Rule::damaged, "the bytes of the state were changed.");
  const char* place = behind.data();
  for (Tensor& state : window.states) {
    const std::size_t count = raw_bytes(state).size();
    std::memcpy(state.raw(), place, count);
    place += count;
  }
  return header.steps;
}

}  // namespace lagtape
