#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/tests/fuzz/fuzz.h"
#include "lagtape/tools/train/json_set.h"

using namespace lagtape;

/// Each line of a text as an assignment of --set.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    Json document =
        parse_json(R"({"train": {"epochs": 3}, "model": {"layers": [{"cell": "rnn"}]}})", "document");
    for (std::size_t at = 0; at != std::string_view::npos;) {
      at = text.find('\n');
      assign(document, std::string(text.substr(0, at)));
      if (at != std::string_view::npos) text.remove_prefix(at + 1);
    }
    parse_json(document.dump(), "written");
  });
}
