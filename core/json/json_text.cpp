#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"

namespace lagtape {
namespace {

using Text = nlohmann::ordered_json;

/// Writes a value as nlohmann::ordered_json does, which here writes only the single values. Arrays and objects
/// are not converted to that type: its destructors allocate memory, and would terminate the program if none is
/// left.
class TextWriter {
 public:
  TextWriter(int indent, char fill, bool ascii, bool sorted = false)
      : indent_(indent), fill_(fill), ascii_(ascii), sorted_(sorted) {}

  std::string text(const Json& json) {
    write(json, 0);
    return std::move(out_);
  }

 private:
  void write(const Json& json, int depth) {
    if (json.is_array() || json.is_object()) {
      write_elements(json, depth);
    } else {
      out_ += single(json);
    }
  }

  void write_elements(const Json& json, int depth) {
    const bool object = json.is_object();
    out_ += object ? '{' : '[';
    bool first = true;
    const auto begin_element = [&] {
      if (!first) out_ += ',';
      first = false;
      begin_line(depth + 1);
    };
    if (object) {
      for (const auto& [key, value] : entries_of(json)) {
        begin_element();
        out_ += dumped(Text(*key));
        out_ += indent_ >= 0 ? ": " : ":";
        write(*value, depth + 1);
      }
    } else {
      for (const Json& element : json) {
        begin_element();
        write(element, depth + 1);
      }
    }
    if (!first) begin_line(depth);
    out_ += object ? '}' : ']';
  }

  std::vector<std::pair<const std::string*, const Json*>> entries_of(const Json& object) const {
    std::vector<std::pair<const std::string*, const Json*>> entries;
    for (const auto& [key, value] : object.items()) entries.emplace_back(&key, &value);
    if (sorted_)
      std::ranges::sort(entries, {}, [](const auto& entry) { return std::string_view(*entry.first); });
    return entries;
  }

  void begin_line(int depth) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(depth), fill_);
  }

  std::string single(const Json& json) const {
    if (json.is_string()) return dumped(Text(json.get<std::string>()));
    if (json.is_boolean()) return dumped(Text(json.get<bool>()));
    if (json.is_number_unsigned()) return dumped(Text(json.get<std::uint64_t>()));
    if (json.is_number_integer()) return dumped(Text(json.get<std::int64_t>()));
    if (json.is_number()) return dumped(Text(json.get<double>()));
    return "null";
  }

  std::string dumped(const Text& value) const {
    try {
      return value.dump(-1, ' ', ascii_);
    } catch (const Text::exception& error) {
      throw Json::exception({}, Rule::wrong_type, error.what());
    }
  }

  int indent_;
  char fill_;
  bool ascii_, sorted_;
  std::string out_;
};

}  // namespace

std::string Json::dump(int indent, char fill, bool ascii) const {
  return TextWriter(indent, fill, ascii).text(*this);
}

std::string Json::dump_sorted() const { return TextWriter(-1, ' ', false, true).text(*this); }

}  // namespace lagtape
