#pragma once

#include <string>
#include <string_view>

namespace lagtape {

// Notation from other languages and papers, and how to write it in an equation. Each of these functions returns
// the end of a message, which starts with the punctuation after the quoted text; "." if nothing is known.

/// For an invalid character at position `i` of the line.
std::string cure_of_character(std::string_view line, std::size_t i);

/// For an unknown name: np.tanh, torch.sigmoid, σ, h_t. Empty if nothing is known.
std::string cure_of_name(std::string_view name);

/// The notation of a state's steps, for h[t-1], h_{t-1} and h(t-1).
inline constexpr std::string_view kStepsOfState =
    "h is the state before the step (h_{t-1} of a paper), h' the one after it (h_t), h[-k] the one k steps "
    "before h.";

}  // namespace lagtape
