#include "lagtape/tests/fuzz/safetensors_mutator.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "lagtape/tests/fuzz/json_mutator.h"

namespace lagtape {
namespace {

constexpr std::int64_t kMostNumbers = 4096;

/// Mutates one of the texts of the metadata that are JSON themselves.
void mutate_metadata(Json& header, Draws& draws) {
  Json& metadata = header["__metadata__"];
  for (const char* name : {"experiment", "normalization"}) {
    if (!metadata.contains(name) || !metadata[name].is_string() || draws() % 3 == 0) continue;
    Json document = Json::parse(metadata[name].get<std::string>());
    mutate(document, draws);
    metadata[name] = document.dump();
    return;
  }
}

std::int64_t numbers_of(const Json& tensor) {
  std::int64_t count = 1;
  for (const Json& extent : tensor.at("shape")) {
    const auto value = extent.get<std::int64_t>();
    if (value < 0 || value > kMostNumbers) return -1;
    count *= value;
    if (count > kMostNumbers) return -1;
  }
  return count;
}

/// Changes an extent of one tensor, and the offsets of all so that they fit.
void resize_tensor(Json& header, Draws& draws) {
  if (header.empty()) return;
  std::size_t number = draws() % header.size();
  std::int64_t at = 0;
  for (auto [name, tensor] : header.items()) {
    Json& changed = header[name];
    if (name == "__metadata__") continue;
    Json& shape = changed["shape"];
    if (number-- == 0 && !shape.empty())
      shape[draws() % shape.size()] = Json(static_cast<std::int64_t>(draws() % 9));
    const std::int64_t count = numbers_of(changed);
    if (count < 0) return;
    const std::int64_t end = at + count * (changed.value("dtype", "F32") == std::string("F64") ? 8 : 4);
    changed["data_offsets"] = Json::array({Json(at), Json(end)});
    at = end;
  }
}

std::int64_t end_of(const Json& header) {
  std::int64_t end = 0;
  for (const auto& [name, tensor] : header.items()) {
    const Json* offsets = tensor.find("data_offsets");
    if (offsets == tensor.end() || !offsets->is_array() || offsets->size() != 2 ||
        !offsets->at(1).is_number_integer())
      continue;
    end = std::max(end, offsets->at(1).get<std::int64_t>());
  }
  return end;
}

}  // namespace

std::size_t mutate_safetensors(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  Draws draws(seed);
  std::uint64_t length = 0;
  if (size < 10 || draws() % 8 == 0) return mutate_bytes(data, size, most);
  std::memcpy(&length, data, 8);
  if (length > size - 8) return mutate_bytes(data, size, most);
  try {
    Json header = Json::parse(std::string_view(reinterpret_cast<const char*>(data) + 8, length));
    const auto action = draws() % 4;
    if (action <= 1 && header.contains("__metadata__")) {
      mutate_metadata(header, draws);
    } else if (action == 2) {
      resize_tensor(header, draws);
    } else {
      mutate(header, draws);
    }
    std::string buffer(reinterpret_cast<const char*>(data) + 8 + length, size - 8 - length);
    const std::string text = header.dump();
    std::string bytes(8, '\0');
    length = text.size();
    std::memcpy(bytes.data(), &length, 8);
    bytes += text;
    const std::int64_t end = end_of(header);
    if (end >= 0 && end <= static_cast<std::int64_t>(most))
      buffer.resize(static_cast<std::size_t>(end), '\1');
    return replace(data, size, most, bytes + buffer);
  } catch (const InputError&) {
    return mutate_bytes(data, size, most);
  }
}

}  // namespace lagtape
