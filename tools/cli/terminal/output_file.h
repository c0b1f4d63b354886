#pragma once

#include <string>
#include <vector>

namespace lagtape::cli {

/// Throws InputError unless the file of an option, if it was given, has one of the endings, such as ".svg": so that no
/// other file is replaced by mistake.
void check_ending(const std::string& option, const std::string& file,
                  const std::vector<std::string>& endings);

/// Throws InputError unless the file of an option, if it was given, is one of a chart that can be drawn on this machine.
void check_chart(const std::string& option, const std::string& file);

/// Throws InputError where the file of an option is one of the command's inputs, which writing would destroy: a file,
/// or a run folder by its weights. An empty name and "-" are not files.
void check_not_an_input(const std::string& option, const std::string& output,
                        const std::vector<std::string>& inputs);

}  // namespace lagtape::cli
