"""Servers that speak S3, on the loopback address, for tests: one in memory that fails on purpose, and Debian's Swift.

Both are context managers; `environment` says to corun where the server is and who asks.
"""
import hashlib
import hmac
import http.server
import os
import pathlib
import random
import re
import shutil
import socket
import socketserver
import subprocess
import threading
import time
import urllib.parse
import urllib.request
import xml.sax.saxutils

BUCKET = "sweeps"
REGION = "us-east-1"
KEY = "test:tester"
SECRET = "not+a/secret"


def environment(port):
    return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET}


def signature(method, path, query, headers, signed, payload, stamp, region):
    """Signature of version 4 (AWS General Reference, "Create a signed AWS API request")."""
    canonical = "\n".join([method, path, query, *(f"{name}:{' '.join(headers[name].split())}" for name in signed), "",
                           ";".join(signed), payload])
    scope = f"{stamp[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{SECRET}".encode()
    for part in (stamp[:8], region, "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


class MemoryServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """A bucket in memory. `fails`: the share of requests that get no answer, 503 or 429, half of them after the write.
    `conditional`: "yes", "no" (501) or "ignored"."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fails=0.0, conditional="yes", page=1000):
        super().__init__(("127.0.0.1", 0), Handler)
        self.fails, self.conditional, self.page = fails, conditional, page
        self.draw = random.Random(5)
        self.objects = {}
        self.lock = threading.Lock()
        self.requests, self.failures, self.refused_puts = 0, 0, 0
        self.environment = environment(self.server_address[1])

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", head=False):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not head:
            self.wfile.write(body)

    def error(self, status, code):
        self.answer(status, f"<Error><Code>{code}</Code><Message>refused &amp; told</Message></Error>".encode(),
                    self.command == "HEAD")

    def is_signed(self, path, query, body):
        given = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=(.*)/\d{8}/(.*)/s3/aws4_request, ?"
                             r"SignedHeaders=(.*), ?Signature=(.*)", self.headers.get("Authorization", ""))
        if not given or given[1] != KEY:
            return False
        headers = {name.lower(): value for name, value in self.headers.items()}
        payload = headers.get("x-amz-content-sha256", "")
        signed = given[3].split(";")
        return (payload == hashlib.sha256(body).hexdigest() and {"host", "x-amz-date"} <= set(signed) and
                given[4] == signature(self.command, path, query, headers, signed, payload, headers["x-amz-date"], given[2]))

    def handle_one(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        with server.lock:
            server.requests += 1
            failure = server.draw.random() < server.fails
            late = failure and server.draw.random() < 0.5
            how = server.draw.choice(["gone", 503, 429])
            server.failures += failure
        if failure and not late:
            return self.fail(how)
        if not self.is_signed(path, query, body):
            return self.error(403, "SignatureDoesNotMatch")
        bucket, _, name = urllib.parse.unquote(path)[1:].partition("/")
        if bucket != BUCKET:
            return self.error(404, "NoSuchBucket")
        with server.lock:
            reply = self.act(name, dict(urllib.parse.parse_qsl(query)), body)
        if failure:
            return self.fail(how)
        if reply[0] >= 400:
            return self.error(*reply)
        return self.answer(*reply, self.command == "HEAD")

    do_GET = do_HEAD = do_PUT = do_DELETE = handle_one

    def fail(self, how):
        if how == "gone":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.error(how, "SlowDown")

    def act(self, name, query, body):
        """Status and body, or status and code of an error."""
        server = self.server
        if not name:
            return 200, self.listing(query).encode()
        if self.command == "PUT":
            if "If-None-Match" in self.headers and server.conditional != "ignored":
                if server.conditional == "no":
                    server.refused_puts += 1
                    return 501, "NotImplemented"
                if name in server.objects:
                    return 412, "PreconditionFailed"
            server.objects[name] = body
            return 200, b""
        if self.command == "DELETE":
            server.objects.pop(name, None)
            return 204, b""
        return (200, server.objects[name]) if name in server.objects else (404, "NoSuchKey")

    def listing(self, query):
        keys = sorted(key for key in self.server.objects
                      if key.startswith(query.get("prefix", "")) and key > query.get("continuation-token", ""))
        most = min(self.server.page, int(query.get("max-keys", 1000)))
        text = '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        for key in keys[:most]:
            text += f"<Contents><Key>{xml.sax.saxutils.escape(key)}</Key><Size>1</Size></Contents>"
        more = len(keys) > most
        text += f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"
        if more:
            text += f"<NextContinuationToken>{xml.sax.saxutils.escape(keys[most - 1])}</NextContinuationToken>"
        return text + "</ListBucketResult>"


SWIFT = """\
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = {workers}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
user = {user}
log_address = {folder}/log
[pipeline:main]
pipeline = {pipeline}
[app:{kind}-server]
use = egg:swift#{kind}
allow_account_management = true
account_autocreate = true
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = {secret} .admin
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memcached}
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Swift:
    """OpenStack Swift with its s3api: a proxy, and a server each of accounts, containers and objects, in `folder`."""
    PROGRAMS = ["swift-proxy-server", "swift-account-server", "swift-container-server", "swift-object-server",
                "swift-ring-builder", "memcached"]

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.running = []
        self.port = free_port()
        self.environment = environment(self.port)

    @classmethod
    def missing(cls, folder):
        """Why it cannot run here; empty if it can."""
        missing = [program for program in cls.PROGRAMS if shutil.which(program) is None]
        if missing:
            return f"no {', '.join(missing)} here (Debian: swift-proxy, swift-account, swift-container, swift-object, memcached)"
        try:
            os.setxattr(folder, "user.corun", b"1")
        except OSError as error:
            return f"Swift keeps facts in extended attributes, which {folder} has not: {error.strerror}"
        return ""

    def start(self, *command):
        log = open(self.folder / f"{pathlib.Path(command[0]).name}.log", "wb")
        self.running.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                             env={**os.environ, "SWIFT_DIR": str(self.folder)}))

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        import pwd
        user = pwd.getpwuid(os.getuid()).pw_name
        memcached = free_port()
        (self.folder / "devices" / "d1").mkdir(parents=True)
        (self.folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n")
        self.start("memcached", "-l", "127.0.0.1", "-p", str(memcached), "-u", user)
        for kind in ("account", "container", "object"):
            port = free_port()
            ring = str(self.folder / f"{kind}.builder")
            for step in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/d1", "1"], ["rebalance"]):
                subprocess.run(["swift-ring-builder", ring, *step], check=True, capture_output=True, timeout=60)
            self.serve(kind, kind, port, f"{kind}-server", 1, user, memcached)
        pipeline = "catch_errors gatekeeper cache listing_formats bulk s3api tempauth slo proxy-server"
        self.serve("proxy", "proxy", self.port, pipeline, 2, user, memcached)
        self.make_bucket()

    def serve(self, name, kind, port, pipeline, workers, user, memcached):
        conf = self.folder / f"{name}-server.conf"
        conf.write_text(SWIFT.format(port=port, workers=workers, folder=self.folder, user=user, pipeline=pipeline, kind=kind,
                                     secret=SECRET, memcached=memcached))
        self.start(f"swift-{name}-server", str(conf))

    def make_bucket(self):
        deadline = time.monotonic() + 60
        while True:
            stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            payload = hashlib.sha256(b"").hexdigest()
            headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": payload, "x-amz-date": stamp}
            signed = sorted(headers)
            given = signature("PUT", f"/{BUCKET}", "", headers, signed, payload, stamp, REGION)
            request = urllib.request.Request(
                f"http://127.0.0.1:{self.port}/{BUCKET}", method="PUT",
                headers={**headers, "Authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/{stamp[:8]}/{REGION}/s3/aws4_request, "
                                                     f"SignedHeaders={';'.join(signed)}, Signature={given}"})
            try:
                with urllib.request.urlopen(request, timeout=10):
                    return
            except OSError as error:
                if time.monotonic() > deadline or any(one.poll() is not None for one in self.running):
                    logs = "".join(path.read_text(errors="replace")[-2000:] for path in sorted(self.folder.glob("*.log")))
                    raise AssertionError(f"Swift did not start: {error}\n{logs}") from error
                time.sleep(0.5)

    def __exit__(self, *_):
        for one in self.running:
            one.terminate()
        for one in self.running:
            try:
                one.wait(timeout=20)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait(timeout=20)
