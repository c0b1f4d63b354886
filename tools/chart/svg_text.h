#pragma once

#include <string>

namespace lagtape::svg {

// The elements of a chart as SVG. Lengths are in pixels; `more` contains additional attributes.

inline constexpr double kLetter = 7.2;  // the width of a letter

/// The colors of paper, text and axes for dark mode.
extern const char* const kDarkStyle;

/// The approximate width of a text, which depends on the viewer's font.
double width_of(const std::string& text);
std::string number(double value);
std::string text_at(double x, double y, const std::string& text, const std::string& more);
std::string segment(double x1, double y1, double x2, double y2, const std::string& more);
std::string dot(double x, double y, double radius, const std::string& color);
/// A color between gray, 0, and orange, 1, both visible on white and on black.
std::string shaded(double share);

}  // namespace lagtape::svg
