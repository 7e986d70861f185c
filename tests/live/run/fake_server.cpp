// A service for a fake box (fake_box.hpp): a server of HTTP/1.1 on 127.0.0.1. It registers its use of a GPU, and answers
// one request at a time; each other user of the GPU slows it down. Its modes are the ways in which real servers misbehave.
//
//   fake_server BOX PORT MILLISECONDS_PER_REQUEST SLOWDOWN_PER_OTHER [MODE...]
//
//   deaf          never listens
//   busy          finds its port in use, and exits with 67
//   mute          listens and never answers
//   forgetful     answers its first five requests, and then none
//   ill           answers each with HTTP 503 from the third on
//   sick          answers each with HTTP 503
//   strange       answers with something else than HTTP
//   brief         exits with 4 when it has answered five
//   closing       closes each connection after its answer
//   stubborn      ignores SIGTERM, and has a child that does so as well
//   post          answers HTTP 400 unless it is asked by POST /predict with the body {"x": 1}
//
// PORT - is that of CORUN_PORT.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/live/run/fake_box.hpp"

namespace {

struct Server {
  std::string box;
  double ms = 0;
  double slowdown = 0;
  int gpu = 0;
  bool mute = false, forgetful = false, ill = false, sick = false, strange = false, brief = false,
       closing = false, post = false;
  std::mutex one_at_a_time;
  int answered = 0;

  std::string answer(const std::string& request) {
    const std::lock_guard lock(one_at_a_time);
    if (mute || (forgetful && answered >= 5)) {
      for (;;) pause();
    }
    // At once: the thread sanitizer's _exit() waits a second for other threads.
    if (brief && answered >= 5) syscall(SYS_exit_group, 4);
    const auto others = corun::test::fake_uses(box, gpu).size() - 1;
    usleep(static_cast<useconds_t>(1000 * ms * (1 + slowdown * static_cast<double>(others))));
    ++answered;
    if (strange) return "220 mail.example ESMTP\r\n";
    const bool well = !post || (request.starts_with("POST /predict HTTP/1.1\r\n") &&
                                request.ends_with("\r\n\r\n{\"x\": 1}"));
    const std::string status = sick || (ill && answered > 2) ? "503 Service Unavailable"
                               : well                        ? "200 OK"
                                                             : "400 Bad Request";
    return "HTTP/1.1 " + status + "\r\nContent-Length: 3\r\n" +
           (closing ? "Connection: close\r\n" : "") + "\r\nyes";
  }

  void serve(int socket) {
    std::string request;
    char bytes[4096];
    for (ssize_t got = 0; (got = read(socket, bytes, sizeof bytes)) > 0;) {
      request.append(bytes, static_cast<std::size_t>(got));
      const std::size_t head = request.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const std::size_t length = request.find("Content-Length: ");
      const std::size_t body =
          length < head ? static_cast<std::size_t>(std::atoi(request.c_str() + length + 16)) : 0;
      if (request.size() < head + 4 + body) continue;
      const std::string text = answer(request);
      request.clear();
      if (write(socket, text.data(), text.size()) < 0 || closing) break;
    }
    close(socket);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 64;
  static Server server;
  server.box = argv[1];
  const char* told = std::getenv("CORUN_PORT");
  if (told == nullptr) return 66;
  const int port = std::atoi(std::strcmp(argv[2], "-") == 0 ? told : argv[2]);
  server.ms = std::atof(argv[3]);
  server.slowdown = std::atof(argv[4]);
  const auto mode = [&](const char* name) {
    for (int i = 5; i < argc; ++i) {
      if (std::strcmp(argv[i], name) == 0) return true;
    }
    return false;
  };
  server.mute = mode("mute");
  server.forgetful = mode("forgetful");
  server.ill = mode("ill");
  server.sick = mode("sick");
  server.strange = mode("strange");
  server.brief = mode("brief");
  server.closing = mode("closing");
  server.post = mode("post");
  std::signal(SIGPIPE, SIG_IGN);

  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  constexpr const char* kUuid = "GPU-fake-";
  if (visible == nullptr || std::strncmp(visible, kUuid, std::strlen(kUuid)) != 0) return 65;
  server.gpu = std::atoi(visible + std::strlen(kUuid));
  corun::test::write_fake_use(server.box, {getpid(), server.gpu, 30, 1024, 10});
  if (mode("stubborn")) {
    std::signal(SIGTERM, SIG_IGN);
    if (fork() == 0) {
      for (;;) pause();
    }
  }
  if (mode("deaf")) {
    for (;;) pause();
  }

  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (mode("busy")) {
    const int first = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(first, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(first, 1) != 0) {
      return 68;
    }
  }
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 512) != 0) {
    return 67;
  }
  for (;;) {
    const int visitor = accept(listener, nullptr, nullptr);
    if (visitor >= 0) std::thread([visitor] { server.serve(visitor); }).detach();
  }
}
