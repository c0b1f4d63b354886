#include <fmt/core.h>

#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/place.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/view/report/run_report.h"

namespace lagtape::cli {

namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::string path, output;
  report::ReportOptions options;
  int threads = 1;
};

void add_options(Options& options, ReportArguments& arguments) {
  options.add("RUN", &arguments.path, "run folder, folder with runs, or folder of a search").required();
  options.add("--output", &arguments.output, "page to write (.html)").required().not_empty().called("FILE");
  options
      .add("--sequences", &arguments.options.sequences,
           "number of test sequences whose gradients are followed back")
      .at_least(1)
      .show_default();
  options.add("--steps", &arguments.options.steps, "most steps of each, the last ones")
      .at_least(1)
      .show_default();
  add_threads(options, arguments.threads);
}

std::string page_of(const ReportArguments& arguments, ThreadPool& pool) try {
  const fs::path path = arguments.path;
  if (!fs::exists(path)) throw InputError({path.string()}, Rule::missing, "there is no such folder.");
  if (fs::is_directory(path) && fs::exists(path / "search.json")) return report::search_page(path);
  if (fs::is_directory(path) && !fs::exists(path / "weights.safetensors") &&
      !fs::exists(path / "experiment.json"))
    return report::folder_page(path);
  return report::run_page(path, pool, arguments.options);
} catch (const InputError& error) {
  throw named(error, arguments.path);
}

void run(const ReportArguments& arguments) {
  check_ending("--output", arguments.output, {".html"});
  ThreadPool pool(arguments.threads);
  write_file_atomically(arguments.output, page_of(arguments, pool));
}

}  // namespace

Command report_command() {
  return make_command<ReportArguments>(
      "report", "Write a report on a run, on runs or on a search as one page", add_options, run,
      {{"lagtape report runs/load-0 --output load.html", "a run"},
       {"lagtape report runs --output all.html", "all runs of a folder"},
       {"lagtape report runs/search --output search.html", "a search"}});
}

}  // namespace lagtape::cli
