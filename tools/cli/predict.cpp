#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <iostream>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/cli/arrays.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/train/streaming.h"

namespace lagtape::cli {

namespace {

struct PredictArguments {
  std::string run, input, output;
  int threads = 1;
  bool stream = false, probabilities = false;
};

void add_options(Options& options, PredictArguments& arguments) {
  options.add("RUN", &arguments.run, "run folder or weights file").required();
  options
      .add("--input", &arguments.input,
           ".npy of [T, in] or [B, T, in], .csv with a line for each step (of a file with a header, the "
           "columns that the experiment names), or - for lines on stdin")
      .required()
      .called("FILE");
  options.add("--output", &arguments.output, ".npy, .csv, or - for lines on stdout")
      .required()
      .called("FILE");
  options.add("--stream", &arguments.stream,
              "run the model step by step; the outputs are the same to the bit");
  options.add("--probabilities", &arguments.probabilities,
              "write probabilities of the classes in place of logits");
  add_threads(options, arguments.threads);
}

bool is_token(double value, std::int64_t tokens) {
  return value >= 0 && value < static_cast<double>(tokens) && value == std::floor(value);
}

/// Parses the numbers of one line of stdin in the model's precision.
template <class T>
std::vector<T> parse_line(const std::string& line, std::int64_t number, const Model& model) {
  std::vector<T> values;
  const char *at = line.data(), *end = at + line.size();
  while (true) {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
    if (error != std::errc() || !fits(value, model.dtype()) || (at != end && *at != ',')) {
      throw InputError(text_of("stdin: line ", number, ", column ", values.size() + 1,
                               ": expected a finite number in ", name_of(model.dtype()), ". Got ",
                               quote(line, 200), "."));
    }
    values.push_back(static_cast<T>(value));
    if (model.tokens() > 0 && !is_token(values.back(), model.tokens())) {
      throw InputError(text_of("stdin: line ", number, ": tokens are the numbers 0..", model.tokens() - 1,
                               ". Got ", value, "."));
    }
    if (at == end) break;
    ++at;
  }
  if (static_cast<std::int64_t>(values.size()) != model.input_width()) {
    throw InputError(text_of("stdin: line ", number, ": expected ", model.input_width(), " numbers. Got ",
                             values.size(), "."));
  }
  return values;
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

/// Writes the output for each line on stdin before it reads the next. A model that reads out once writes at
/// the end.
template <class T>
void answer_lines(const Model& model, bool probabilities) {
  Stream<T> stream = model.stream<T>();
  const bool every_step = reads_every_step(model.at());
  Tensor answer;
  std::int64_t number = 0;
  const auto print = [&] { write_array("-", probabilities ? probabilities_of(model, answer) : answer); };
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (is_blank(line)) continue;
    const std::vector<T> x = parse_line<T>(line, number, model);
    answer = Tensor({stream.output_width()}, model.dtype());
    stream.step(x.data(), answer.values<T>().data());
    if (!every_step) continue;
    print();
    std::fflush(stdout);
  }
  if (answer.empty()) throw InputError("stdin: expected a line for each step. Got none.");
  if (!every_step) print();
}

/// The experiment's names of its input columns (task "series"); empty unless all of them have names.
std::vector<std::string> input_names(const Model& model) {
  const Json experiment = parse_json(model.experiment(), "experiment");
  std::vector<std::string> names;
  const Json& columns = at_pointer(experiment, "/data/input");
  if (at_pointer(experiment, "/data/task") != "series" || !columns.is_array()) return names;
  for (const Json& column : columns)
    if (column.is_string()) names.push_back(column.get<std::string>());
  if (std::ssize(names) != model.input_width()) names.clear();
  return names;
}

/// Whether the model's inputs are made from a recording by more than choosing columns.
bool has_made_inputs(const Model& model) {
  const Json experiment = parse_json(model.experiment(), "experiment");
  const Json& time = at_pointer(experiment, "/data/time");
  return at_pointer(experiment, "/data/task") == "series" &&
         ((time.is_string() && time != "") || !at_pointer(experiment, "/data/categories").empty() ||
          at_pointer(experiment, "/data/missing") == "mask");
}

/// Reads the sequences, and says what reads a recording as the experiment does if this does not.
Tensor read_input(const PredictArguments& arguments, const Model& model) try {
  return read_sequences(arguments.input, model.input_width(), model.dtype(), input_names(model));
} catch (const InputError& error) {
  if (!has_made_inputs(model)) throw;
  throw InputError(
      text_of(error.what(), "\npredict takes the ", model.input_width(),
              " inputs of the model as plain numbers. For a recording as the model was trained on give ",
              "lagtape forecast, or lagtape eval --data FILE --split all --plot FILE.svg."));
}

void run(const PredictArguments& arguments) {
  const Model model = load_model(arguments.run);
  if (arguments.probabilities) check_has_probabilities(model);
  check_ending(arguments.output);
  if (arguments.input == "-" && arguments.output == "-") {
    return with_scalar(model.dtype(), [&]<class T>() { answer_lines<T>(model, arguments.probabilities); });
  }
  const Tensor x = read_input(arguments, model);
  const Tensor y = arguments.stream ? predict_by_stream(model, x) : model.predict(x, arguments.threads);
  write_array(arguments.output, arguments.probabilities ? probabilities_of(model, y) : y);
}

}  // namespace

Command predict_command() {
  return make_command<PredictArguments>("predict", "Run a trained model on sequences", add_options, run);
}

}  // namespace lagtape::cli
