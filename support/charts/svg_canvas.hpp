#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A picture as SVG text: lines, boxes, marks and text on white, in the colours of the figures of
/// docs/. It needs no style sheet, font or script. The white background makes it readable on dark
/// pages. Coordinates are pixels, y downwards, written with one decimal, so that equal pictures are
/// equal bytes.
namespace corun::inline support {

/// Colours in an order that colour-blind readers can distinguish. A chart of more than three series
/// should vary their marks, too.
namespace svg {
inline constexpr const char* kInk = "#1f2933";
inline constexpr const char* kGrey = "#6b7785";
inline constexpr const char* kFaint = "#e3e8ee";
inline constexpr const char* kBlue = "#1f6fb2";
inline constexpr const char* kLightBlue = "#a9c8e4";
inline constexpr const char* kStrongBar = "#5a9bd1";  ///< dark lines still show on it
inline constexpr const char* kWeakBar = "#cbddee";
inline constexpr const char* kOrange = "#d9731a";
inline constexpr const char* kPalette[] = {"#1f6fb2", "#d9731a", "#8250a8", "#2f8f5b",
                                           "#c23b4b", "#1a9aa0", "#7a5c43", "#c86fae"};
}  // namespace svg

enum class Anchor { kStart, kMiddle, kEnd };
enum class Mark { kCircle, kSquare, kDiamond, kTriangle };
inline constexpr int kMarks = 4;

struct SvgPoint {
  double x = 0;
  double y = 0;
};

struct TextStyle {
  Anchor anchor = Anchor::kStart;
  const char* colour = svg::kInk;
  int size = 12;
  bool bold = false;
  bool upwards = false;  ///< turned to run from bottom to top
};

class SvgCanvas {
 public:
  SvgCanvas(double width, double height, std::string_view title);

  void line(SvgPoint from, SvgPoint to, const char* colour, double width = 1);
  /// `dashes`: lengths of dashes and gaps [px], such as "6 4"; empty: a whole line.
  void polyline(std::span<const SvgPoint> points, const char* colour, double width,
                std::string_view dashes);
  /// The rectangle between two opposite corners.
  void rect(SvgPoint a, SvgPoint b, const char* fill, const char* stroke = "none");
  void dot(SvgPoint at, double radius, const char* colour, double opacity = 1);
  /// A mark with outline `stroke`, filled with `fill`.
  void mark(Mark mark, SvgPoint at, double radius, const char* stroke, const char* fill);
  void text(SvgPoint at, std::string_view text, const TextStyle& style = {});
  /// A line with a cap at both ends, upright or level.
  void whisker(SvgPoint from, SvgPoint to, const char* colour, double width, double cap);

  /// The whole document, with a line feed at its end.
  std::string done() const;

 private:
  std::string parts_;
};

/// Estimated width of `text` in Helvetica [px]; overestimates rather than underestimates.
double text_width(std::string_view text, int size, bool bold = false);

/// `text`, or as much of it as fits into `width` [px] with an ellipsis.
std::string elided(std::string_view text, double width, int size, bool bold = false);

/// `text` broken between words into lines that fit `width` [px].
std::vector<std::string> wrapped(std::string_view text, double width, int size);

}  // namespace corun::inline support
