#include <fmt/core.h>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/train/experiment_schema.h"

namespace lagtape::cli {

namespace {

struct SchemaArguments {};

void run(const SchemaArguments&) { print("{}\n", experiment_schema().dump(1)); }

}  // namespace

Command schema_command() {
  return make_command<SchemaArguments>(
      "schema", "Print the JSON Schema of experiment files, for completion and checks in editors",
      [](Options&, SchemaArguments&) {}, run,
      {{"lagtape schema > experiment.schema.json", "an experiment names it with \"$schema\""}});
}

}  // namespace lagtape::cli
