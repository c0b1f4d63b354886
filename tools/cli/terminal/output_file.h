#pragma once

#include <string>
#include <vector>

namespace lagtape::cli {

/// Throws InputError unless an option's file, if given, has one of the endings, such as ".svg", so no other
/// file is replaced by mistake.
void check_ending(const std::string& option, const std::string& file,
                  const std::vector<std::string>& endings);

/// Throws InputError unless an option's file, if given, is a chart that can be drawn on this machine.
void check_chart(const std::string& option, const std::string& file);

/// Throws InputError if an option's file is one of the command's inputs, which writing would destroy: a file,
/// or the weights of a run folder. An empty name and "-" are not files.
void check_not_an_input(const std::string& option, const std::string& output,
                        const std::vector<std::string>& inputs);

}  // namespace lagtape::cli
