#include "lagtape/data/formats/ts_file.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

/// Published files use '#', '%' or both for comments.
bool is_comment(std::string_view line) { return line.front() == '#' || line.front() == '%'; }

/// The tags of a file's header.
struct Tags {
  std::optional<bool> timestamps, univariate, equal_length, class_label, target_label;
  std::optional<std::int64_t> dimensions, length;
  std::vector<std::string> classes;
};

bool truth(const std::string& tag, std::string_view value, const ArchiveBuilder& builder) {
  const std::string word = in_lower_case(value);
  if (word != "true" && word != "false")
    builder.refuse_value(Rule::wrong_type, text_of("true or false after ", tag), quote(value));
  return word == "true";
}

std::int64_t count(const std::string& tag, std::string_view value, const ArchiveBuilder& builder) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < 1 || number > 1'000'000'000)
    builder.refuse_value(Rule::wrong_type, text_of("a number from 1 after ", tag), quote(value));
  return number;
}

void read_tag(std::string_view line, Tags& tags, const ArchiveBuilder& builder) {
  const std::string tag = in_lower_case(take_part(line, ' '));
  std::string_view rest = trimmed(line);
  const std::string_view value = take_part(rest, ' ');
  if (tag == "@problemname" || tag == "@missing") return;
  if (tag == "@timestamps") {
    tags.timestamps = truth(tag, value, builder);
  } else if (tag == "@univariate") {
    tags.univariate = truth(tag, value, builder);
  } else if (tag == "@equallength") {
    tags.equal_length = truth(tag, value, builder);
  } else if (tag == "@dimensions" || tag == "@dimension") {
    tags.dimensions = count(tag, value, builder);
  } else if (tag == "@serieslength") {
    tags.length = count(tag, value, builder);
  } else if (tag == "@targetlabel") {
    tags.target_label = truth(tag, value, builder);
  } else if (tag == "@classlabel") {
    tags.class_label = truth(tag, value, builder);
    while (!rest.empty()) {
      const std::string_view name = take_part(rest, ' ');
      if (!name.empty()) tags.classes.emplace_back(name);
    }
  } else {
    builder.refuse(unknown_name("tag", tag,
                                {"@problemname", "@timestamps", "@missing", "@univariate", "@dimensions",
                                 "@equallength", "@serieslength", "@classlabel", "@targetlabel", "@data"}));
  }
}

/// Rejects contradictory tags, and passes their settings to the builder.
void apply(const Tags& tags, ArchiveBuilder& builder) {
  const bool classes = tags.class_label.value_or(false), real = tags.target_label.value_or(false);
  if (classes == real)
    builder.refuse_value(Rule::conflict, "@classLabel true or @targetLabel true, and not both",
                         classes ? "both" : "none");
  if (classes && tags.classes.size() < 2)
    builder.refuse_value(Rule::missing, "at least 2 classes after @classLabel true", "");
  if (tags.univariate.value_or(false) && tags.dimensions.value_or(1) != 1)
    builder.refuse(Rule::conflict, text_of("@univariate true contradicts @dimensions ", *tags.dimensions));
  builder.set_classes(tags.classes);
  if (tags.univariate.value_or(false)) builder.set_dimensions(1);
  if (tags.dimensions) builder.set_dimensions(*tags.dimensions);
  if (tags.equal_length.value_or(false)) builder.set_equal_length(tags.length);
}

/// Seconds of a date, or a plain number in any unit.
double time_of(std::string_view text, const ArchiveBuilder& builder) {
  if (const std::optional<double> number = parse_number(text)) return *number;
  const std::optional<ReadTime> time = read_time(text);
  if (!time) builder.refuse_value(Rule::wrong_type, "a date or a number as time stamp", quote(text));
  return seconds_of(time->time);
}

/// Adds "(time,value)".
void add_stamped(std::string_view text, ArchiveBuilder& builder) {
  const std::size_t comma = text.rfind(',');
  if (!text.starts_with('(') || !text.ends_with(')') || comma == std::string_view::npos)
    builder.refuse_value(Rule::syntax, "(time,value), since @timeStamps is true", quote(text));
  builder.add_value(trimmed(text.substr(comma + 1, text.size() - comma - 2)));
  builder.add_time(time_of(trimmed(text.substr(1, comma - 1)), builder));
}

void read_sequence(std::string_view line, bool has_times, ArchiveBuilder& builder) {
  const std::vector<std::string_view> parts = parts_of(line, ':');
  if (parts.size() < 2) builder.refuse_value(Rule::syntax, "values, a colon and a target", quote(line));
  for (std::size_t d = 0; d + 1 < parts.size(); ++d) {
    for (const std::string_view value : parts_of(parts[d], ','))
      has_times ? add_stamped(trimmed(value), builder) : builder.add_value(trimmed(value));
    builder.end_dimension();
  }
  builder.end_sequence(trimmed(parts.back()));
}

}  // namespace

void read_ts(std::istream& file, ArchiveBuilder& builder) {
  Tags tags;
  bool in_data = false;
  for (std::string text; std::getline(file, text);) {
    builder.next_line();
    const std::string_view line = trimmed(text);
    if (line.empty() || is_comment(line)) continue;
    if (in_data) {
      read_sequence(line, tags.timestamps.value_or(false), builder);
    } else if (line.front() != '@') {
      builder.refuse_value(Rule::syntax, "a tag (@...) or a comment (# or %) before @data", quote(line));
    } else if (in_lower_case(line) == "@data") {
      apply(tags, builder);
      in_data = true;
    } else {
      read_tag(line, tags, builder);
    }
  }
  if (!in_data) builder.refuse(Rule::missing, "not a .ts file: it has no line @data");
}

}  // namespace lagtape
