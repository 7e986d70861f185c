#include "live/services/live_service.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/error.hpp"

namespace corun::live {

RepeatedRequests::RepeatedRequests(const LiveService& service, std::uint64_t entity, bool once)
    : service_(service), entity_(entity), once_(once) {}

std::size_t RepeatedRequests::next(std::span<Time> out) {
  // A round without requests is not repeated: its load could be 0 for ever.
  for (bool empty = false;;) {
    const std::size_t got = next_of_round(out);
    if (got > 0) {
      const Duration later = static_cast<std::int64_t>(round_) * service_.load.end;
      for (Time& t : out.first(got)) t += later;
      return got;
    }
    if (once_ || empty) return 0;
    empty = true;
    ++round_;
    drawn_.reset();
    traced_ = 0;
  }
}

std::size_t RepeatedRequests::next_of_round(std::span<Time> out) {
  if (service_.trace_file.empty()) {
    constexpr std::uint64_t kEntities = 1'000'000;  // of one round
    if (!drawn_) {
      drawn_.emplace(service_.load, service_.spacing, service_.seed, entity_ + kEntities * round_);
    }
    return drawn_->next(out);
  }
  const std::size_t count = std::min(out.size(), service_.trace.size() - traced_);
  std::copy_n(service_.trace.begin() + static_cast<std::ptrdiff_t>(traced_), count, out.begin());
  traced_ += count;
  return count;
}

int free_port(std::optional<int> asked, const std::string& place) {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) throw DeviceError(std::string("no socket can be made: ") + std::strerror(errno));
  const int yes =
      1;  // connections of an earlier server that are still closing do not keep the port
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(asked.value_or(0)));
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(file, raw, size) == 0 && getsockname(file, raw, &size) == 0;
  const int why = errno;
  close(file);
  if (bound) return ntohs(address.sin_port);
  if (asked) {
    throw InputError(place, "port " + std::to_string(*asked) +
                                " of 127.0.0.1 cannot be used: " + std::strerror(why) +
                                "; leave service.port out, and corun chooses a free one");
  }
  throw DeviceError(std::string("127.0.0.1 has no free port: ") + std::strerror(why));
}

}  // namespace corun::live
