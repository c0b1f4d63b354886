#include "lagtape/data/formats/ucr_file.h"

#include <map>
#include <utility>

#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

void read_ucr(std::istream& file, ArchiveBuilder& builder) {
  std::vector<std::string> lines;
  std::map<double, std::string> classes;
  const auto class_in = [&](std::string_view& line) -> std::pair<double, std::string> {
    const std::string_view text = trimmed(take_part(line, '\t'));
    const std::optional<double> number = parse_number(text);
    if (!number)
      builder.refuse_value(Rule::wrong_type, "a class, which is a number, before a tab", quote(text));
    return {*number, text_of(*number)};
  };
  for (std::string line; std::getline(file, line);) {
    builder.next_line();
    std::string_view rest = lines.emplace_back(std::move(line));
    if (!trimmed(rest).empty()) classes.insert(class_in(rest));
  }
  if (builder.classes().empty()) {
    std::vector<std::string> names;
    for (const auto& [number, name] : classes) names.push_back(name);
    builder.set_classes(names);
  } else {
    builder.set_classes(builder.classes());
  }
  builder.set_dimensions(1);
  builder.first_line();
  for (const std::string& line : lines) {
    builder.next_line();
    std::string_view rest = trimmed(line);
    if (rest.empty()) continue;
    const std::string name = class_in(rest).second;
    for (const std::string_view value : parts_of(rest, '\t')) builder.add_value(trimmed(value));
    builder.end_dimension();
    builder.end_sequence(name, true);
  }
}

}  // namespace lagtape
