#include "lagtape/tests/fuzz/protobuf_mutator.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/tests/fuzz/json_mutator.h"

namespace lagtape {
namespace {

/// A field as it stands in a message: its number and wire type, and the value with its length left out.
struct Field {
  std::uint64_t key;
  std::uint64_t integer;
  std::string bytes;
};

std::optional<std::uint64_t> take_integer(std::string_view& rest) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

void put_integer(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(0x80 | (value & 0x7F));
  to += static_cast<char>(value);
}

std::optional<std::vector<Field>> fields_of(std::string_view rest) {
  std::vector<Field> fields;
  while (!rest.empty()) {
    const auto key = take_integer(rest);
    if (!key) return std::nullopt;
    Field field{*key, 0, {}};
    std::size_t length = *key % 8 == 1 ? 8 : *key % 8 == 5 ? 4 : 0;
    if (*key % 8 == 0 || *key % 8 == 2) {
      const auto integer = take_integer(rest);
      if (!integer) return std::nullopt;
      field.integer = *integer;
      if (*key % 8 == 2) length = *integer;
    } else if (length == 0) {
      return std::nullopt;
    }
    if (length > rest.size()) return std::nullopt;
    field.bytes = rest.substr(0, length);
    rest.remove_prefix(length);
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string message_of(const std::vector<Field>& fields) {
  std::string message;
  for (const Field& field : fields) {
    put_integer(message, field.key);
    if (field.key % 8 == 0) put_integer(message, field.integer);
    if (field.key % 8 == 2) put_integer(message, field.bytes.size());
    message += field.bytes;
  }
  return message;
}

void mutate_leaf(Field& field, Draws& draws) {
  if (field.key % 8 == 0) {
    const Json odd = odd_number(draws);
    field.integer = static_cast<std::uint64_t>(odd.is_number_integer() ? odd.get<std::int64_t>() : -1);
    return;
  }
  const std::size_t size = field.bytes.size();
  const bool has_length = field.key % 8 == 2;
  field.bytes.resize(size + (has_length ? 16 : 0));
  auto* bytes = reinterpret_cast<std::uint8_t*>(field.bytes.data());
  const std::size_t after = mutate_bytes(bytes, size, field.bytes.size());
  field.bytes.resize(has_length ? after : size);
}

std::string mutated(std::string_view message, Draws& draws, int depth) {
  auto fields = fields_of(message);
  if (!fields || fields->empty()) return std::string(message);
  const std::size_t at = draws() % fields->size();
  Field& field = (*fields)[at];
  const auto inner = field.key % 8 == 2 && depth < 8 ? fields_of(field.bytes) : std::nullopt;
  if (inner && !inner->empty() && draws() % 6 != 0) {
    field.bytes = mutated(field.bytes, draws, depth + 1);
  } else if (const auto action = draws() % 8; action == 0) {
    fields->erase(fields->begin() + static_cast<std::ptrdiff_t>(at));
  } else if (action == 1) {
    const Field copy = field;
    fields->insert(fields->begin() + static_cast<std::ptrdiff_t>(draws() % fields->size()), copy);
  } else if (action == 2) {
    field.key = (draws() % 20) * 8 + field.key % 8;
  } else if (action == 3) {
    std::swap(field, (*fields)[draws() % fields->size()]);
  } else {
    mutate_leaf(field, draws);
  }
  return message_of(*fields);
}

}  // namespace

std::size_t mutate_protobuf(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  Draws draws(seed);
  if (draws() % 8 == 0) return mutate_bytes(data, size, most);
  return replace(data, size, most, mutated({reinterpret_cast<const char*>(data), size}, draws, 0));
}

}  // namespace lagtape
