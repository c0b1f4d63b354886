#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/series/read_panel.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/arrays.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/place.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/forecast/prediction_file.h"
#include "lagtape/tools/forecast/recording_model.h"
#include "lagtape/tools/forecast/sequence_prediction.h"
#include "lagtape/tools/forecast/series_prediction.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/train/streaming.h"
#include "lagtape/tools/train/warnings.h"

namespace lagtape::cli {

namespace {

struct PredictArguments {
  std::string run, input, output, series, plot, interpolation = "cubic", weights = "own", calibrate,
                                                frequency;
  std::optional<double> rate;
  int threads = 1;
  bool stream = false, probabilities = false;
};

void add_options(Options& options, PredictArguments& arguments) {
  options.add("RUN", &arguments.run, "run folder or weights file").required();
  options
      .add("--input", &arguments.input,
           ".npy of [T, in] or [B, T, in], .csv with a line for each step, or - for lines on stdin. A .csv "
           "recording with names of columns is read as for the training")
      .required()
      .called("FILE");
  options
      .add("--output", &arguments.output,
           ".npy, .csv, or - for lines on stdout; for a recording a table with a header: time or row, "
           "horizon, "
           "prediction, truth, also as .json or .npz, and likewise for a table of sequences")
      .required()
      .called("FILE");
  options.add("--stream", &arguments.stream,
              "run the model step by step; with --weights own the outputs are the same to the bit");
  options
      .add("--rate", &arguments.rate,
           "steps for each step of training, 0.5 to 8: 2 for sound of 96 kHz and a model of 48 kHz")
      .needs({"--stream"})
      .called("R");
  options
      .add("--interpolation", &arguments.interpolation,
           "interpolation interpolation of states between two steps: linear or cubic")
      .needs({"--rate"})
      .one_of({"linear", "cubic"})
      .show_default()
      .called("KIND");
  options
      .add("--weights", &arguments.weights,
           "weights of the stream: own; for a model of f32 also bf16, or int8 for layers of 64 units and "
           "more, which are faster and less exact; f32 leaves out the rounding of a model trained in bf16")
      .needs({"--stream"})
      .one_of({"own", "f32", "bf16", "int8"})
      .show_default()
      .called("FORMAT");
  options
      .add("--calibrate", &arguments.calibrate,
           "sequences like those to come, in a format of --input, which give the ranges of int8")
      .needs({"--weights"})
      .called("FILE");
  options
      .add("--frequency", &arguments.frequency,
           "recordings: accept rows of any frequency; by default that of the training")
      .one_of({"any"})
      .called("any");
  options
      .add("--series", &arguments.series,
           "the series of plain numbers, for a model that scales each by itself")
      .not_empty()
      .called("NAME");
  options.add("--probabilities", &arguments.probabilities,
              "write probabilities of the classes in place of logits");
  options
      .add("--plot", &arguments.plot,
           "draw the predictions of a recording over the truth (.svg, .png or .pdf)")
      .not_empty()
      .called("FILE");
  add_threads(options, arguments.threads);
}

/// The experiment's names of its input columns (tasks "series" and "sequences"); empty unless all of them have names.
std::vector<std::string> input_names(const Model& model) {
  const Json data = data_of(model);
  std::vector<std::string> names;
  const Json& columns = value_at(data, "/input");
  if (!names_columns(value_at(data, "/task"), "input") || !columns.is_array()) return names;
  for (const Json& column : columns)
    if (column.is_string()) names.push_back(column.get<std::string>());
  if (std::ssize(names) != model.input_width()) names.clear();
  return names;
}

/// The inputs of a step of a recording, in their order, for a message: " (load, sine of hour, ...)".
std::string described_inputs(const Model& model) {
  constexpr std::size_t kMostShown = 20;
  const std::vector<std::string> names = input_names_of(model);
  return names.empty() ? "" : text_of(" (", listed(names, kMostShown), ")");
}

Tensor sequences_in(const std::string& file, const Model& model) {
  return read_sequences(file, model.input_width(), model.dtype(), model.tokens(), input_names(model),
                        data_of(model).value("layout", "") == "channels_first");
}

/// Sets what --weights and --calibrate ask for. Throws InputError.
void set_weights(StreamOptions& options, const PredictArguments& arguments, const Model& model) {
  options.weights = stream_weights_named(arguments.weights);
  const bool calibrates = options.weights == ProductFormat::int8;
  if (calibrates && arguments.calibrate.empty())
    throw unexpected({.item = "--weights int8"}, Rule::missing,
                     "--calibrate FILE with sequences like those to come", "none");
  if (!calibrates && !arguments.calibrate.empty())
    throw InputError({.item = "--calibrate"}, Rule::conflict, "is for --weights int8",
                     text_of("--weights ", arguments.weights));
  if (calibrates && arguments.calibrate == "-" && arguments.input == "-")
    throw InputError({.item = "--calibrate and --input"}, Rule::conflict, "one of them can read stdin",
                     "- for both");
  if (calibrates) options.calibration = sequences_in(arguments.calibrate, model);
}

/// The stream that the options ask for. Throws InputError.
StreamOptions stream_options(const PredictArguments& arguments, const Model& model) {
  StreamOptions options;
  options.interpolation = interpolation_named(arguments.interpolation);
  set_weights(options, arguments, model);
  options.rate = arguments.rate.value_or(options.rate);
  return options;
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

/// Parses the numbers of one line of stdin in the model's precision.
template <class T>
std::vector<T> parse_line(const std::string& line, std::int64_t number, const Model& model) {
  const auto refuse_width = [&](std::size_t found) {
    throw unexpected({"stdin", number}, Rule::shape,
                     text_of(model.input_width(), model.input_width() == 1 ? " number" : " numbers",
                             described_inputs(model)),
                     text_of(found));
  };
  if (is_blank(line))
    refuse_width(0);  // a line that is passed over has no answer, and all later answers move
  std::vector<T> values;
  const char *at = line.data(), *end = at + line.size();
  while (true) {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
    if (error != std::errc() || !fits(value, model.dtype()) || (at != end && *at != ',')) {
      throw unexpected({"stdin", number, std::ssize(values) + 1}, Rule::wrong_type,
                       text_of("a finite number in ", name_of(model.dtype())), quote(line, 200));
    }
    values.push_back(static_cast<T>(value));
    if (model.tokens() > 0 && !is_token(values.back(), model.tokens())) {
      throw InputError({"stdin", number}, Rule::out_of_range,
                       text_of("tokens are the numbers 0..", model.tokens() - 1), text_of(value));
    }
    if (at == end) break;
    ++at;
  }
  if (std::ssize(values) != model.input_width()) refuse_width(values.size());
  return values;
}

/// Writes the output for each line on stdin before it reads the next. A model that reads out once writes at
/// the end.
template <class T>
void answer_lines(const Model& model, bool probabilities, const StreamOptions& options) {
  Stream<T> stream = model.stream<T>(options);
  const bool every_step = reads_every_step(model.at());
  Tensor answer;
  std::int64_t number = 0;
  const auto print = [&] { write_array("-", probabilities ? probabilities_of(model, answer) : answer); };
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    const std::vector<T> x = parse_line<T>(line, number, model);
    answer = Tensor({stream.output_width()}, model.dtype());
    stream.step(x.data(), answer.values<T>().data());
    if (!every_step) continue;
    print();
    std::fflush(stdout);
  }
  if (std::cin.bad()) throw Error("stdin: cannot be read to its end");
  if (answer.empty()) throw unexpected({"stdin"}, Rule::missing, "a line for each step", "none");
  if (!every_step) print();
}

/// Whether the input is a recording like that of the training: a .csv file with names of columns.
bool is_recording(const std::string& input, const Model& model) {
  if (!is_table_file(input)) return false;
  if (data_of(model).value("task", "") != "series") return false;
  const SeriesOptions options = series_options_of(model);
  return !read_table_file(files_of(input).front(), options.table).names().empty();
}

/// The input as plain numbers, also of a recording whose predictions are written as an array.
Tensor plain_input(const PredictArguments& arguments, const Model& model) {
  try {
    return sequences_in(arguments.input, model);
  } catch (const InputError& error) {
    if (!is_recording(arguments.input, model)) throw;
    throw error.with_hint(
        "For .npy all columns are numbers. Of any recording with names of columns a table can be written: "
        "give a "
        ".csv file as --output, or -.");
  }
}

/// Writes a table with a header and, if asked for, a chart.
void predict_recording(const PredictArguments& arguments, const Model& model) {
  if (arguments.stream)
    throw InputError({.item = "--stream"}, Rule::not_supported,
                     "takes plain numbers: an .npy file, a .csv file without a header, or -.");
  SeriesPrediction prediction =
      predict_series(model, arguments.input, arguments.threads, arguments.frequency);
  if (arguments.probabilities) prediction.prediction = probabilities_of(model, prediction.prediction);
  const std::string title = text_of("prediction over truth, ", prediction.horizon,
                                    prediction.horizon == 1 ? " row" : " rows", " ahead");
  if (!arguments.plot.empty()) write_chart(arguments.plot, plot_of(prediction, title));
  if (arguments.output == "-") {
    print_text(csv_of(prediction));
  } else {
    write_file_atomically(arguments.output, file_of(prediction, ending_of(arguments.output)));
  }
}

/// Writes a row for each sequence: a table with names, or an array [N, q].
void predict_table(const PredictArguments& arguments, const Model& model) {
  if (arguments.stream)
    throw InputError({.item = "--stream"}, Rule::wrong_type,
                     "takes plain numbers: an .npy file, a .csv file of one sequence, or -.");
  const SequencePrediction predicted = predict_sequences(model, arguments.input, arguments.threads);
  for (const std::string& text : predicted.table.notes) note("{}\n", text);
  if (ending_of(arguments.output) == ".npy")
    return write_array(arguments.output, arguments.probabilities ? probabilities_of(model, predicted.outputs)
                                                                 : predicted.outputs);
  const std::string text =
      file_of(columns_of(predicted, model, arguments.probabilities), ending_of(arguments.output));
  if (arguments.output == "-") return print_text(text);
  write_file_atomically(arguments.output, text);
}

/// Throws InputError where the output cannot be what is asked for.
void check_output(const PredictArguments& arguments, bool of_recording, bool of_sequences) {
  const bool is_array = ending_of(arguments.output) == ".npy";
  if (of_sequences && !is_array && arguments.output != "-")
    check_ending("--output", arguments.output, kPredictionEndings);
  if (!of_recording && !of_sequences) check_ending(arguments.output);
  if (of_recording && arguments.output != "-") check_ending("--output", arguments.output, kPredictionEndings);
  check_not_an_input("--output", arguments.output, {arguments.run, arguments.input, arguments.calibrate});
  const std::string columns = "a .csv recording with the columns that the experiment names";
  if (!arguments.plot.empty() && !of_recording)
    throw unexpected({.item = "--plot"}, Rule::wrong_type, text_of("as --input ", columns),
                     text_of(arguments.input));
  check_chart("--plot", arguments.plot);
}

/// Says on stderr what the format of the stream's weights costs.
void print_error(const PredictArguments& arguments, const Tensor& y, const Model& model, const Tensor& x,
                 StreamOptions options) {
  options.weights = {};
  options.calibration = {};
  const double error = relative_difference(y, predict_by_stream(model, x, options));
  note(
      "weights in {}: the outputs differ from those in the model's precision by {:.2g} "
      "of their root mean square\n",
      arguments.weights, error);
}

void predict(const PredictArguments& arguments) {
  Model model = load_model(arguments.run);
  warn(grammar_warnings(model));
  if (arguments.probabilities) check_has_probabilities(model);
  const bool to_array = ending_of(arguments.output) == ".npy";
  const bool of_recording = !to_array && is_recording(arguments.input, model);
  const bool of_sequences = !of_recording && is_sequence_table(model, arguments.input);
  check_output(arguments, of_recording, of_sequences);
  if (of_recording && !arguments.series.empty())
    throw InputError({.item = "--series"}, Rule::conflict,
                     "is for plain numbers; the rows of a table say which series they are of.");
  if (!arguments.series.empty()) model.use_series(arguments.series);
  const StreamOptions streaming = stream_options(arguments, model);
  if (of_recording) return predict_recording(arguments, model);
  if (of_sequences) return predict_table(arguments, model);
  if (arguments.input == "-" && arguments.output == "-") {
    return with_scalar(model.dtype(),
                       [&]<class T>() { answer_lines<T>(model, arguments.probabilities, streaming); });
  }
  const Tensor x = plain_input(arguments, model);
  const Tensor y =
      arguments.stream ? predict_by_stream(model, x, streaming) : model.predict(x, arguments.threads);
  write_array(arguments.output, arguments.probabilities ? probabilities_of(model, y) : y);
  if (streaming.weights && streaming.weights != model.chain().products)
    print_error(arguments, y, model, x, streaming);
}

/// Names the option or the run where the library names its part: "--rate: ..." for "[rate] ...".
void run(const PredictArguments& arguments) {
  try {
    predict(arguments);
  } catch (const InputError& error) {
    const bool of_rate = error.problems().front().place.op == "rate";
    throw of_rate ? error.within({.item = "--rate"}) : named(error, arguments.run);
  }
}

}  // namespace

Command predict_command() {
  return make_command<PredictArguments>(
      "predict", "Run a trained model on sequences", add_options, run,
      {{"lagtape predict runs/load-0 --input new.csv --output y.csv", "a table, a row for each step"},
       {"lagtape predict runs/load-0 --input x.npy --output y.npy", "arrays [B, T, in]"}});
}

}  // namespace lagtape::cli
