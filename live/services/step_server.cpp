#include "live/services/step_server.hpp"

#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "sim/error.hpp"
#include "support/json.hpp"

namespace corun::live {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

/// All connections of the server, in one thread: while a step runs, other requests wait.
class StepServer {
 public:
  StepServer(const WorkloadRun& run, std::optional<std::int64_t> requests, WorkloadDevice& device,
             const HostClock& clock)
      : run_(run), left_(requests), device_(device), clock_(clock) {}

  void listen(int port) {
    const tcp::endpoint own(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port));
    beast::error_code error;
    listener_.open(own.protocol(), error);
    if (!error) listener_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) listener_.bind(own, error);
    if (!error) listener_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw InputError("--serve", fmt::format("port {} of 127.0.0.1 cannot be listened on: {}; "
                                              "choose another one",
                                              port, error.message()));
    }
    accept();
  }

  std::int64_t serve() {
    io_.run();
    return answered_;
  }

 private:
  struct Visitor {
    explicit Visitor(tcp::socket socket) : stream(std::move(socket)) {}
    beast::tcp_stream stream;
    beast::flat_buffer buffer;
    http::request<http::string_body> request;
    http::response<http::string_body> response;
  };

  void accept() {
    listener_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!error) {
        beast::error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        read(std::make_shared<Visitor>(std::move(socket)));
      }
      accept();
    });
  }

  void read(const std::shared_ptr<Visitor>& visitor) {
    visitor->request = {};
    http::async_read(visitor->stream, visitor->buffer, visitor->request,
                     [this, visitor](beast::error_code error, std::size_t) {
                       if (!error) answer(visitor);
                     });
  }

  void answer(const std::shared_ptr<Visitor>& visitor) {
    const double start_s = clock_.now_s();
    make_step(run_.recipe, ++answered_, device_, clock_);
    auto& response = visitor->response;
    response = {http::status::ok, visitor->request.version()};
    response.set(http::field::content_type, "application/json");
    response.keep_alive(visitor->request.keep_alive());
    response.body() = json_line({{"request", answered_}, {"seconds", clock_.now_s() - start_s}});
    response.prepare_payload();
    const bool last = left_ && answered_ >= *left_;
    http::async_write(visitor->stream, response,
                      [this, visitor, last](beast::error_code error, std::size_t) {
                        if (last) {
                          io_.stop();
                        } else if (!error && visitor->request.keep_alive()) {
                          read(visitor);
                        }
                      });
  }

  const WorkloadRun& run_;
  std::optional<std::int64_t> left_;
  WorkloadDevice& device_;
  const HostClock& clock_;
  asio::io_context io_{1};
  tcp::acceptor listener_{io_};
  std::int64_t answered_ = 0;
};

}  // namespace

void serve_steps(const WorkloadRun& run, int port, std::optional<std::int64_t> requests,
                 WorkloadDevice& device, const HostClock& clock, const WriteLine& write) {
  StepServer server(run, requests, device, clock);
  server.listen(port);
  Json start = Json::parse(start_line(run, device));
  start.erase("steps");
  start["port"] = port;
  write(json_line(start));
  const std::int64_t answered = server.serve();
  write(json_line({{"event", "end"}, {"requests", answered}, {"checksum", device.checksum()}}));
}

}  // namespace corun::live
