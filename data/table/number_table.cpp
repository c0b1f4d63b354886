#include "lagtape/data/table/number_table.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

bool is_number(std::string_view word) {
  const std::optional<float> value = parse_number<float>(word);
  return value && std::isfinite(*value);
}

float take_number(std::string_view& line, const std::string& where, std::int64_t row) {
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  const std::optional<float> value = parse_number<float>(word);
  if (!value || !std::isfinite(*value)) {
    throw unexpected({where, row}, Rule::wrong_type, "a finite number", quote(word));
  }
  line.remove_prefix(word.size());
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  return *value;
}

std::vector<float> parse_number_table(std::string_view text, std::int64_t columns, const std::string& where) {
  std::vector<float> numbers;
  for (std::int64_t row = 1; !text.empty(); ++row) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) continue;
    std::int64_t found = 0;
    for (; !line.empty(); ++found) numbers.push_back(take_number(line, where, row));
    if (found != columns) {
      throw unexpected({where, row}, Rule::shape, text_of(columns, " numbers"), text_of(found));
    }
  }
  if (numbers.empty()) throw InputError({where}, Rule::missing, "no numbers.");
  return numbers;
}

}  // namespace lagtape
