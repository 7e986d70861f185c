#include "support/charts/svg_canvas.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace corun::inline support {

namespace {

/// A number with one decimal, never "-0.0".
std::string px(double value) {
  std::string text = fmt::format("{:.1f}", value);
  return text == "-0.0" ? "0.0" : text;
}

/// The text that is drawn, before it is escaped.
std::string drawn(std::string_view text) {
  return printable(text, std::numeric_limits<std::size_t>::max());
}

/// Text escaped for XML. Control characters, which XML forbids, become \xNN first.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : drawn(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  // U+FFFE and U+FFFF, which XML forbids, become U+FFFD.
  for (const char* const none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at; (at = out.find(none)) != std::string::npos;) {
      out.replace(at, 3, "\xef\xbf\xbd");
    }
  }
  return out;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// Width of the character that begins with this byte, in units of the font size.
double advance(char c) {
  const auto u = static_cast<unsigned char>(c);
  if (u >= 0xe2) return 1.0;  // dashes and arrows, but also ideographs and pictures
  if (u >= 0x80) return 0.75;
  if (std::string_view("ijl.,:;|!'").find(c) != std::string_view::npos) return 0.29;
  if (std::string_view(" tfr()[]/-\\I").find(c) != std::string_view::npos) return 0.37;
  if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.95;
  if (c >= 'A' && c <= 'Z') return 0.74;
  return 0.58;
}

}  // namespace

SvgCanvas::SvgCanvas(double width, double height, std::string_view title) {
  parts_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" role=\"img\">\n"
      "<title>{2}</title>\n"
      "<rect x=\"0\" y=\"0\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      px(width), px(height), escaped(title));
}

void SvgCanvas::line(SvgPoint from, SvgPoint to, const char* colour, double width) {
  parts_ += fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
      px(from.x), px(from.y), px(to.x), px(to.y), colour, px(width));
}

void SvgCanvas::polyline(std::span<const SvgPoint> points, const char* colour, double width,
                         std::string_view dashes) {
  std::string list;
  for (const SvgPoint& p : points) {
    list += fmt::format("{}{},{}", list.empty() ? "" : " ", px(p.x), px(p.y));
  }
  parts_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
      "stroke-linejoin=\"round\"{}/>\n",
      list, colour, px(width),
      dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

void SvgCanvas::rect(SvgPoint a, SvgPoint b, const char* fill, const char* stroke) {
  parts_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"{}\" "
      "stroke-width=\"1.3\"/>\n",
      px(std::min(a.x, b.x)), px(std::min(a.y, b.y)), px(std::max(a.x, b.x) - std::min(a.x, b.x)),
      px(std::max(a.y, b.y) - std::min(a.y, b.y)), fill, stroke);
}

void SvgCanvas::dot(SvgPoint at, double radius, const char* colour, double opacity) {
  parts_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
                        px(at.x), px(at.y), px(radius), colour, px(opacity));
}

void SvgCanvas::mark(Mark mark, SvgPoint at, double radius, const char* stroke, const char* fill) {
  if (mark == Mark::kCircle) {
    parts_ += fmt::format(
        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.6\"/>\n",
        px(at.x), px(at.y), px(radius), fill, stroke);
    return;
  }
  const double r = mark == Mark::kSquare ? radius * 0.9 : radius * 1.25;
  std::vector<SvgPoint> corners;
  if (mark == Mark::kSquare) corners = {{-r, -r}, {r, -r}, {r, r}, {-r, r}};
  if (mark == Mark::kDiamond) corners = {{0, -r}, {r, 0}, {0, r}, {-r, 0}};
  if (mark == Mark::kTriangle) corners = {{0, -r}, {r, r * 0.75}, {-r, r * 0.75}};
  std::string list;
  for (const SvgPoint& c : corners) {
    list += fmt::format("{}{},{}", list.empty() ? "" : " ", px(at.x + c.x), px(at.y + c.y));
  }
  parts_ += fmt::format(
      "<polygon points=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.6\" "
      "stroke-linejoin=\"round\"/>\n",
      list, fill, stroke);
}

void SvgCanvas::text(SvgPoint at, std::string_view text, const TextStyle& style) {
  const char* anchor = style.anchor == Anchor::kStart    ? "start"
                       : style.anchor == Anchor::kMiddle ? "middle"
                                                         : "end";
  const std::string turn =
      style.upwards ? fmt::format(" transform=\"rotate(-90 {} {})\"", px(at.x), px(at.y)) : "";
  parts_ += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" fill=\"{}\" font-size=\"{}\"{}{}>{}</text>\n",
      px(at.x), px(at.y), anchor, style.colour, style.size,
      style.bold ? " font-weight=\"bold\"" : "", turn, escaped(text));
}

void SvgCanvas::whisker(SvgPoint from, SvgPoint to, const char* colour, double width, double cap) {
  line(from, to, colour, width);
  const bool level = from.y == to.y;
  for (const SvgPoint& p : {from, to}) {
    const double dx = level ? 0 : cap;
    const double dy = level ? cap : 0;
    line({p.x - dx, p.y - dy}, {p.x + dx, p.y + dy}, colour, width);
  }
}

std::string SvgCanvas::done() const { return parts_ + "</svg>\n"; }

double text_width(std::string_view text, int size, bool bold) {
  double width = 0;
  for (const char c : drawn(text)) {
    if (!continues(c)) width += advance(c);
  }
  return width * size * (bold ? 1.08 : 1);
}

std::string elided(std::string_view text, double width, int size, bool bold) {
  std::string clean = drawn(text);
  if (text_width(clean, size, bold) <= width) return clean;
  const double room = width - text_width("…", size, bold);
  std::size_t end = 0;
  for (std::size_t next = 0; next < clean.size(); end = next) {
    do {
      ++next;
    } while (next < clean.size() && continues(clean[next]));
    if (text_width(std::string_view(clean).substr(0, next), size, bold) > room) break;
  }
  return clean.substr(0, end) + "…";
}

std::vector<std::string> wrapped(std::string_view text, double width, int size) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    const std::string word(text.substr(from, to - from));
    from = to + 1;
    if (word.empty()) continue;
    const std::string longer = line.empty() ? word : fmt::format("{} {}", line, word);
    if (!line.empty() && text_width(longer, size) > width) {
      lines.push_back(elided(line, width, size));
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(elided(line, width, size));
  return lines;
}

}  // namespace corun::inline support
