#pragma once

#include <string>

#include "lagtape/tools/exchange/export/exported_model.h"
#include "lagtape/tools/exchange/export/onnx/onnx_writer.h"

namespace lagtape {

/// Adds the model's input (numbers, or tokens with the table of their vectors), with `leading` axes before the
/// axis of numbers, and returns what the first layer reads.
std::string add_input(OnnxWriter& graph, const ExportedModel& model, const OnnxShape& leading);

/// Adds the output "y" in the units of the data.
void add_output(OnnxWriter& graph, const ExportedModel& model, const std::string& y,
                const OnnxShape& leading);

}  // namespace lagtape
