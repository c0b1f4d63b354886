#include "lagtape/data/series/sequence_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/series/fill.h"
#include "lagtape/data/series/like_names.h"
#include "lagtape/data/table/missing_code.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/number_column.h"
#include "lagtape/data/time/time_detector.h"

namespace lagtape {

namespace {

using Texts = std::vector<std::string>;

/// The cells of the table, and which rows belong to which sequence.
class SequenceReader {
 public:
  SequenceReader(const SequenceOptions& options, const std::filesystem::path& path)
      : options_(options), cells_(read_table_file(path, options.table)) {}

  SequenceTable read(bool needs_targets) {
    table_.where = cells_.where();
    table_.notes = cells_.notes();
    name_sequences();
    if (needs_targets && !options_.group.empty()) read_groups();
    if (!options_.time.empty()) sort_rows();
    read_inputs();
    const bool has_targets =
        needs_targets || std::ranges::find(cells_.names(), options_.target) != cells_.names().end();
    std::vector<std::int64_t> rows(rows_.size(), -1);
    if (has_targets) rows = target_rows(target_column(), needs_targets);
    for (const std::int64_t row : rows)
      table_.targets.emplace_back(row < 0 ? "" : cells_.cell(row, cells_.column(options_.target)));
    if (options_.normalize.real_loss) {
      read_numbers(rows);
    } else {
      read_classes(rows, needs_targets);
    }
    return std::move(table_);
  }

 private:
  std::int64_t column(const std::string& name, const char* key) const {
    return cells_.column(name, {.pointer = text_of("/data/", key)});
  }

  /// The target column. A file without it may be one to predict.
  std::int64_t target_column() const try {
    return column(options_.target, "target");
  } catch (const InputError& error) {
    if (!error.problems().back().nearest.empty()) throw;
    throw error.with_hint(
        "Sequences without targets are predicted by `lagtape predict`, and cannot be scored.");
  }

  std::string sequence(std::size_t i) const { return text_of("sequence ", quote(table_.name(i), 40)); }

  [[noreturn]] void refuse(std::int64_t row, std::int64_t column, Rule rule, const std::string& expected,
                           const std::string& hint = "") const {
    throw InputError(Problem{.place = cells_.place(row, column),
                             .rule = rule,
                             .found = rule == Rule::missing ? "" : quote(cells_.cell(row, column), 40),
                             .expected = expected,
                             .hint = hint});
  }

  /// Throws for two contradictory rows of a sequence.
  [[noreturn]] void refuse_rows(std::int64_t a, std::int64_t b, const std::string& what) const {
    const auto [first, second] = std::minmax({cells_.line(a), cells_.line(b)});
    throw InputError({cells_.where()}, Rule::conflict, text_of("lines ", first, " and ", second, ": ", what));
  }

  void name_sequences() {
    constexpr char kApart = '\x1f';
    std::vector<std::int64_t> columns;
    for (const std::string& name : options_.sequence) columns.push_back(column(name, "sequence"));
    std::unordered_map<std::string, std::size_t> places;
    LikeNames like("sequences");
    std::string key;
    for (std::int64_t row = 0; row < cells_.rows(); ++row) {
      key.clear();
      for (const std::int64_t id : columns) {
        const std::string_view cell = cells_.cell(row, id);
        if (cell.empty()) refuse(row, id, Rule::missing, "the name of the row's sequence");
        if (id != columns.front()) key += kApart;
        key += cell;
      }
      const auto [known, is_new] = places.emplace(key, rows_.size());
      if (is_new) {
        rows_.emplace_back();
        Texts& cells = table_.ids.emplace_back();
        for (const std::int64_t id : columns) cells.emplace_back(cells_.cell(row, id));
      }
      rows_[known->second].push_back(row);
      like.add(cells_, row, columns, known->second);
    }
    Texts names;
    for (std::size_t i = 0; i < table_.ids.size(); ++i) names.push_back(table_.name(i));
    if (std::string note = like.note(names); !note.empty()) table_.notes.push_back(std::move(note));
  }

  /// Numbers the groups of sequences in order of first appearance.
  void read_groups() {
    std::vector<std::int64_t> columns;
    for (const std::string& name : options_.group) columns.push_back(column(name, "group"));
    std::map<Texts, std::int32_t> numbers;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Texts first;
      for (const std::int64_t id : columns) {
        const std::string_view cell = first.emplace_back(cells_.cell(rows_[i].front(), id));
        if (cell.empty()) refuse(rows_[i].front(), id, Rule::missing, "the name of the sequence's group");
        for (const std::int64_t row : rows_[i])
          if (cells_.cell(row, id) != first.back())
            refuse_rows(rows_[i].front(), row,
                        text_of(sequence(i), " is of the groups ", quote(first.back(), 40), " and ",
                                quote(cells_.cell(row, id), 40), ", expected one for each sequence."));
      }
      table_.groups.push_back(
          numbers.try_emplace(std::move(first), static_cast<std::int32_t>(numbers.size())).first->second);
    }
  }

  /// Whether a cell is a number, integer or not, by which rows can be sorted.
  template <class T>
  bool read_times(std::int64_t time, std::vector<T>& times) const {
    for (std::int64_t row = 0; row < cells_.rows(); ++row) {
      const std::string_view cell = cells_.cell(row, time);
      std::optional<T> value;
      if constexpr (std::same_as<T, double>) {
        value = parse_number(cell, options_.table.decimal);
        if (value && !std::isfinite(*value)) value.reset();
      } else {
        T whole = 0;
        const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), whole);
        if (error == std::errc() && end == cell.data() + cell.size()) value = whole;
      }
      if (!value) return false;
      times.push_back(*value);
    }
    return true;
  }

  /// Counts and times of any format are exact; other numbers are rounded.
  void sort_rows() {
    const std::int64_t time = column(options_.time, "time");
    for (std::int64_t row = 0; row < cells_.rows(); ++row)
      if (is_missing(cells_.cell(row, time))) refuse(row, time, Rule::missing, "a time or a number");
    if (options_.time_format.empty()) {
      std::vector<std::int64_t> whole;
      if (read_times(time, whole)) return sort_rows_by(whole, time);
      std::vector<double> real;
      if (read_times(time, real)) return sort_rows_by(real, time);
    }
    TimeDetector detector = options_.time_format.empty() ? TimeDetector(options_.date_order)
                                                         : TimeDetector(TimeFormat(options_.time_format));
    for (std::int64_t row = 0; row < cells_.rows(); ++row) detector.add(cells_.cell(row, time));
    const TimeColumn column = detector.finish([&](std::int64_t row) { return cells_.place(row, time); });
    table_.date_order = date_order_of(column.format);
    sort_rows_by(column.times, time);
  }

  template <class T>
  void sort_rows_by(const std::vector<T>& times, std::int64_t time) {
    const auto time_of = [&](std::int64_t row) { return times[static_cast<std::size_t>(row)]; };
    bool was_sorted = true;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      was_sorted = was_sorted && std::ranges::is_sorted(rows_[i], {}, time_of);
      std::ranges::stable_sort(rows_[i], {}, time_of);
      const auto equal = std::ranges::adjacent_find(rows_[i], {}, time_of);
      if (equal != rows_[i].end())
        refuse_rows(equal[0], equal[1],
                    text_of("both are of ", sequence(i), " at ", cells_.cell(equal[0], time),
                            ", expected one row for each time."));
    }
    if (!was_sorted) table_.notes.emplace_back("rows were sorted by time");
  }

  std::string hint_for_cell(std::string_view cell) const {
    const std::string hint = hint_for_number(cell, options_.table);
    return hint.empty() ? R"(Columns of words are named in "categories".)" : hint;
  }

  /// The numbers of a column by file row, NaN if missing.
  Tensor read_column(std::int64_t column) {
    const std::string name = cells_.name_of(column);
    const TableOptions options = options_.table.of_column(name);
    NumberColumn numbers = read_number_column(cells_, column, options);
    if (numbers.refused >= 0)
      refuse(numbers.refused, column, Rule::wrong_type, "a finite number",
             hint_for_cell(cells_.cell(numbers.refused, column)));
    if (const std::string note = note_of_numbers(numbers, name, options); !note.empty())
      table_.notes.push_back(note);
    for (std::int64_t row = 0; row < cells_.rows(); ++row) {
      const double value = numbers.values.at(row);
      if (std::isnan(value) && options_.missing == Missing::error)
        refuse(row, column, Rule::missing, "a finite number",
               R"("missing" says what takes the place of a cell without a number.)");
      if (std::isinf(static_cast<float>(value)))
        refuse(row, column, Rule::not_finite, "a number that is finite in f32");
    }
    return std::move(numbers.values);
  }

  void read_inputs() {
    std::vector<std::int64_t> columns;
    std::vector<Tensor> values;
    for (const auto& [name, codes] : options_.table.codes_by_column) column(name, "missing_codes");
    const Texts names = options_.numbers();
    std::vector<NamedNumbers> numbers;
    for (const std::string& name : names) columns.push_back(column(name, "input"));
    for (const std::int64_t source : columns) values.push_back(read_column(source));
    for (std::size_t i = 0; i < values.size(); ++i) numbers.push_back({names[i], values[i].values<double>()});
    if (std::string note = note_of_codes(find_missing_codes(numbers, {})); !note.empty())
      table_.notes.push_back(std::move(note));
    StoredSequences& to = table_.sequences;
    to.input = std::ssize(options_.input_names());
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t begin = to.x.size();
      to.x.resize(begin + rows_[i].size() * static_cast<std::size_t>(to.input));
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::int64_t missing = read_input(rows_[i], values[k], &to.x[begin + k]);
        if (missing == std::ssize(rows_[i]))
          refuse(rows_[i].front(), columns[k], Rule::missing,
                 text_of("at least one number of this column in ", sequence(i)));
        filled += missing;
      }
      to.end_sequence();
    }
    std::int64_t first = to.input;
    for (auto one = options_.categories.rbegin(); one != options_.categories.rend(); ++one)
      read_words(*one, first -= std::ssize(one->values));
    if (filled > 0)
      table_.notes.push_back(text_of(filled, " input cells without a number were filled (missing)"));
  }

  /// Sets the input for each row's word to 1; `first` is the input of the category's first word.
  void read_words(const Category& category, std::int64_t first) {
    const std::int64_t source = column(category.column, "categories");
    std::size_t step = 0;
    for (const std::vector<std::int64_t>& rows : rows_)
      for (const std::int64_t row : rows) {
        const std::string_view cell = cells_.cell(row, source);
        const auto word = std::ranges::find(category.values, cell);
        if (word != category.values.end()) {
          const auto at = static_cast<std::size_t>(first + (word - category.values.begin()));
          table_.sequences.x[step * static_cast<std::size_t>(table_.sequences.input) + at] = 1;
        } else if (!is_missing(cell)) {
          throw InputError(unknown_name("word", cell, category.values).within(cells_.place(row, source)));
        } else if (options_.missing == Missing::error) {
          refuse(row, source, Rule::missing, "a word",
                 R"("missing" takes a cell without one as none of the words.)");
        }
        ++step;
      }
  }

  /// Copies a column of a sequence, and its mask, to their positions in the first step and those that follow.
  /// Returns the number of cells without a number.
  std::int64_t read_input(const std::vector<std::int64_t>& rows, const Tensor& values, float* first) const {
    const std::int64_t width = table_.sequences.input, mask = std::ssize(options_.numbers());
    std::vector<double> numbers;
    for (const std::int64_t row : rows) numbers.push_back(values.at(row));
    std::int64_t missing = 0;
    for (std::int64_t n = 0; n < std::ssize(rows); ++n) {
      const bool is_missing = std::isnan(numbers[static_cast<std::size_t>(n)]);
      missing += is_missing ? 1 : 0;
      if (options_.missing == Missing::mask) first[n * width + mask] = is_missing ? 0 : 1;
    }
    fill_missing(numbers, options_.missing);
    for (std::int64_t n = 0; n < std::ssize(rows); ++n)
      first[n * width] = static_cast<float>(numbers[static_cast<std::size_t>(n)]);
    return missing;
  }

  bool is_target(std::string_view cell) const {
    if (is_missing(cell)) return std::ranges::find(options_.classes, cell) != options_.classes.end();
    const std::vector<double> codes = options_.table.of_column(options_.target).missing_codes;
    const auto number = parse_number(cell, options_.table.decimal);
    return !options_.normalize.real_loss || !number || std::ranges::find(codes, *number) == codes.end();
  }

  std::string hint_for_missing_word(std::string_view cell) const {
    if (cell.empty() || options_.normalize.real_loss) return {};
    return text_of(quote(cell, 40),
                   R"( means that there is none, unless "classes" lists it with the others.)");
  }

  /// For each sequence, a row with its target; -1 if there is none.
  std::vector<std::int64_t> target_rows(std::int64_t target, bool needs_all) const {
    std::vector<std::int64_t> found;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      found.push_back(-1);
      for (const std::int64_t row : rows_[i]) {
        const std::string_view cell = cells_.cell(row, target);
        if (!is_target(cell)) continue;
        if (found.back() < 0) found.back() = row;
        if (const std::string_view other = cells_.cell(found.back(), target); other != cell)
          refuse_rows(found.back(), row,
                      text_of(sequence(i), " has the targets ", quote(other, 40), " and ", quote(cell, 40),
                              ", expected one for each sequence."));
      }
      if (needs_all && found.back() < 0)
        refuse(rows_[i].front(), target, Rule::missing, text_of("the target of ", sequence(i)),
               hint_for_missing_word(cells_.cell(rows_[i].front(), target)));
    }
    return found;
  }

  void read_numbers(const std::vector<std::int64_t>& rows) {
    for (const std::int64_t row : rows) {
      table_.sequences.y.push_back(std::nan(""));
      if (row < 0) continue;
      const std::int64_t target = cells_.column(options_.target);
      const std::optional<double> value = parse_number(cells_.cell(row, target), options_.table.decimal);
      if (!value || !std::isfinite(static_cast<float>(*value)))
        refuse(row, target, Rule::wrong_type, "a finite number",
               R"(Words are classes, which the loss "cross_entropy" learns.)");
      table_.sequences.y.back() = *value;
    }
  }

  void read_classes(const std::vector<std::int64_t>& rows, bool needs_known) {
    table_.classes = options_.classes.empty() ? classes_of(rows) : options_.classes;
    std::int64_t others = 0, first = -1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table_.sequences.classes.push_back(-1);
      if (rows[i] < 0) continue;
      const auto place = std::ranges::find(table_.classes, table_.targets[i]);
      if (place != table_.classes.end()) {
        table_.sequences.classes.back() = static_cast<std::int32_t>(place - table_.classes.begin());
      } else if (others++ == 0) {
        first = rows[i];
      }
    }
    if (others == 0) return;
    const std::int64_t target = cells_.column(options_.target);
    const Problem unknown = unknown_name("class", std::string(cells_.cell(first, target)), table_.classes);
    if (needs_known) throw InputError(unknown.within(cells_.place(first, target)));
    table_.notes.push_back(text_of(others, others == 1 ? " sequence has a class" : " sequences have classes",
                                   " that the model does not know, the first in line ", cells_.line(first),
                                   ": ", quote(cells_.cell(first, target), 40)));
  }

  /// The words of the targets, sorted by value if all are numbers.
  Texts classes_of(const std::vector<std::int64_t>& rows) const {
    std::map<std::string, std::int64_t> words;
    for (const std::int64_t row : rows)
      if (row >= 0) words.emplace(cells_.cell(row, cells_.column(options_.target)), row);
    std::map<double, Texts> numbers;
    Texts sorted;
    for (const auto& [word, row] : words) {
      sorted.push_back(word);
      if (const auto value = parse_number(word, options_.table.decimal)) numbers[*value].push_back(word);
    }
    if (numbers.size() < words.size()) return sorted;
    sorted.clear();
    for (const auto& [value, same] : numbers) {
      if (value != std::floor(value))
        refuse(words.at(same[0]), cells_.column(options_.target), Rule::wrong_type,
               "a class: a word or a whole number", R"(The loss "mse" learns real numbers.)");
      sorted.push_back(same[0]);
    }
    return sorted;
  }

  const SequenceOptions& options_;
  NamedTable cells_;
  std::vector<std::vector<std::int64_t>> rows_ = {};  ///< the rows of each sequence, in order
  SequenceTable table_ = {};
};

}  // namespace

std::string SequenceTable::name(std::size_t i) const {
  std::string name;
  for (const std::string& cell : ids[i]) name += (name.empty() ? "" : " / ") + cell;
  return name;
}

SequenceTable read_sequence_table(const SequenceOptions& options, const std::filesystem::path& base,
                                  bool needs_targets) {
  return SequenceReader(options, (base / options.path).lexically_normal()).read(needs_targets);
}

}  // namespace lagtape
