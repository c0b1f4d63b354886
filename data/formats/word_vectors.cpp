#include "lagtape/data/formats/word_vectors.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/file_tree.h"
#include "lagtape/data/table/number_table.h"

namespace lagtape {

namespace {

constexpr std::size_t kLongestLine = 1 << 20;

std::int64_t fields_of(std::string_view line) { return 1 + std::count(line.begin(), line.end(), ' '); }

/// Receives a text piece by piece and reads its vectors line by line.
class VectorReader {
 public:
  VectorReader(std::span<const std::string> words, std::int64_t first, Tensor& table)
      : first_(first), width_(table.size(1)), table_(table), read_(words.size()) {
    for (std::size_t i = 0; i < words.size(); ++i) number_of_.emplace(words[i], i);
  }

  void take(const std::string& where, std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      line_.append(piece.substr(0, end));
      take_line(where);
      piece.remove_prefix(end + 1);
    }
    line_.append(piece);
    if (line_.size() > kLongestLine) {
      throw unexpected({where, lines_ + 1}, Rule::out_of_range, text_of("a word and ", width_, " numbers"),
                       text_of("more than ", kLongestLine, " bytes"));
    }
  }

  void end(const std::string& where) {
    if (!line_.empty()) take_line(where);
    if (lines_ == 0) throw unexpected({where}, Rule::missing, "a line a word", "an empty file");
    if (known_ > 0) return;
    throw InputError({where}, Rule::missing, text_of("has none of the ", read_.size(), " words of the data"),
                     {}, "Are they written in another way, such as in capitals?");
  }

  std::int64_t known() const { return known_; }

 private:
  void take_line(const std::string& where) {
    ++lines_;
    std::string_view numbers = line_;
    const std::string_view word = take_word(numbers, where);
    vector_.clear();
    for (std::int64_t i = 0; i < width_; ++i) vector_.push_back(take_number(numbers, where, lines_));
    const auto found = number_of_.find(word);
    if (found != number_of_.end() && !read_[found->second]) {
      read_[found->second] = true;
      ++known_;
      const std::int64_t row = first_ + static_cast<std::int64_t>(found->second);
      for (std::int64_t i = 0; i < width_; ++i)
        table_.set(row * width_ + i, vector_[static_cast<std::size_t>(i)]);
    }
    line_.clear();
  }

  /// Removes the word from the line: everything before the last `width_` fields.
  std::string_view take_word(std::string_view& line, const std::string& where) const {
    const std::int64_t fields = fields_of(line);
    if (lines_ == 1 && fields != width_ + 1) {
      throw unexpected({where, 1}, Rule::shape,
                       text_of("a word and ", width_, " numbers, the units of the model's embedding"),
                       text_of("a word and ", fields - 1));
    }
    std::size_t end = line.size();
    for (std::int64_t i = 0; i < width_ && end != std::string_view::npos; ++i)
      end = end == 0 ? std::string_view::npos : line.rfind(' ', end - 1);
    const std::string_view word = line.substr(0, end == std::string_view::npos ? 0 : end);
    // If a word with spaces ends in a number, the line has one number too many.
    const std::size_t space = word.rfind(' ');
    if (end == std::string_view::npos ||
        (space != std::string_view::npos && is_number(word.substr(space + 1)))) {
      throw unexpected({where, lines_}, Rule::shape,
                       text_of("a word and ", width_, " numbers, as in the first line"),
                       text_of(fields, " fields"));
    }
    line.remove_prefix(end + 1);
    return word;
  }

  std::int64_t first_, width_;
  Tensor& table_;
  std::unordered_map<std::string_view, std::size_t> number_of_;
  std::vector<bool> read_;
  std::string line_;
  std::vector<float> vector_;
  std::int64_t lines_ = 0, known_ = 0;
};

}  // namespace

std::int64_t read_word_vectors(const std::filesystem::path& path, std::span<const std::string> words,
                               std::int64_t first, Tensor& table) {
  const std::string ending = text_of(".", table.size(1), "d.txt");
  VectorReader reader(words, first, table);
  std::string where = path.string();
  const bool found = stream_file(
      path, [&](std::string_view name) { return name.ends_with(ending); },
      [&](const std::string& name, std::string_view piece) {
        where = name.empty() ? path.string() : place_of(path, name);
        reader.take(where, piece);
      });
  if (!found) {
    throw InputError({path.string()}, Rule::missing,
                     text_of("has no file *", ending, " of vectors of ", table.size(1),
                             " numbers, the units of the model's embedding."));
  }
  reader.end(where);
  return reader.known();
}

}  // namespace lagtape
