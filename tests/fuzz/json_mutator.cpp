#include "lagtape/tests/fuzz/json_mutator.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace lagtape {
namespace {

std::size_t below(std::size_t count, Draws& draws) { return draws() % count; }

void collect(Json& value, std::vector<Json*>& all) {
  all.push_back(&value);
  for (Json& element : value) collect(element, all);
}

std::string key_of(const Json& object, Draws& draws) {
  std::size_t number = below(object.size(), draws);
  for (const auto& [key, value] : object.items())
    if (number-- == 0) return key;
  return {};
}

Json mutated_text(std::string text, Draws& draws) {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  const std::size_t size = bytes.size();
  bytes.resize(size + 16);
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
  text.assign(bytes.begin(), bytes.end());
  for (char& c : text)  // a document holds UTF-8 alone
    if (static_cast<unsigned char>(c) >= 0x80) c = static_cast<char>('a' + below(26, draws));
  return Json(text);
}

Json other_kind(Draws& draws) {
  switch (below(6, draws)) {
    case 0: return Json(nullptr);
    case 1: return Json(true);
    case 2: return Json::array();
    case 3: return Json::object();
    case 4: return Json("x");
    default: return odd_number(draws);
  }
}

void change(Json& value, const Json& other, Draws& draws) {
  const std::size_t action = below(8, draws);
  if (action == 0) {
    value = other_kind(draws);
  } else if (action == 1) {
    value = other;
  } else if (value.is_number()) {
    value = odd_number(draws);
  } else if (value.is_string()) {
    value = mutated_text(value.get<std::string>(), draws);
  } else if (value.is_boolean()) {
    value = !value.get<bool>();
  } else if (value.is_array() && !value.empty()) {
    const std::size_t at = below(value.size(), draws);
    if (action < 5) {
      value.push_back(value[at]);
    } else {
      value.erase(at);
    }
  } else if (value.is_object() && !value.empty()) {
    const std::string key = key_of(value, draws);
    if (action < 4) {
      value.erase(key);
    } else if (action < 6 && other.is_object() && !other.empty()) {
      const std::string more = key_of(other, draws);
      value[more] = Json(other.at(more));
    } else {
      value[key] = other;
    }
  }
}

}  // namespace

Json odd_number(Draws& draws) {
  static constexpr std::array whole = {0LL,
                                       1LL,
                                       2LL,
                                       3LL,
                                       7LL,
                                       -1LL,
                                       1000LL,
                                       4096LL,
                                       65536LL,
                                       1000000LL,
                                       16777216LL,
                                       1000000000LL,
                                       2147483647LL,
                                       2147483648LL,
                                       1000000000000LL,
                                       9007199254740993LL,
                                       std::numeric_limits<long long>::max(),
                                       std::numeric_limits<long long>::min()};
  static constexpr std::array real = {0.5, -0.5, 1.5, 1e-300, 1e-9, 1e12, 1e300, -1e300};
  const std::size_t at = below(whole.size() + real.size() + 4, draws);
  if (at < whole.size()) return Json(whole[at]);
  if (at < whole.size() + real.size()) return Json(real[at - whole.size()]);
  return Json(static_cast<std::int64_t>(below(20, draws)));
}

void mutate(Json& document, Draws& draws) {
  for (std::size_t count = 1 + below(3, draws); count > 0; --count) {
    std::vector<Json*> all;
    collect(document, all);
    if (all.size() > 5000) return;
    const Json other = *all[below(all.size(), draws)];
    change(*all[below(all.size(), draws)], other, draws);
  }
}

std::size_t replace(std::uint8_t* data, std::size_t size, std::size_t most, const std::string& bytes) {
  if (bytes.size() > most) return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t most) {
  return LLVMFuzzerMutate(data, size, most);
}

std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  Draws draws(seed);
  if (below(8, draws) == 0) return mutate_bytes(data, size, most);
  try {
    Json document = Json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
    mutate(document, draws);
    return replace(data, size, most, document.dump());
  } catch (const InputError&) {
    return mutate_bytes(data, size, most);
  }
}

}  // namespace lagtape
