#!/bin/sh
# Java 17.0.15 (`HttpURLConnection`, `java.net.http.HttpClient`): a DELETE that arrives, and whose connection ends without an answer.
# Needs a Java of version 11 or newer on the PATH; no package is installed.
# Guess: each sends the DELETE once on a new connection, as only a connection that was used before may have been closed by age.
# Behaviour: HttpURLConnection sends the DELETE again, on its own, also when the connection was new. The program sees one
#   exception. HttpClient sends the DELETE once.
# Seen: HttpURLConnection 2, HttpClient 1.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat > Run.java <<'EOF'
import java.io.IOException;
import java.net.*;
import java.net.http.*;
import java.util.concurrent.atomic.AtomicInteger;

class Run {
  public static void main(String[] args) throws Exception {
    var received = new AtomicInteger();
    var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    var thread = new Thread(() -> {
      while (true) {
        try (var socket = server.accept()) {
          if (socket.getInputStream().read(new byte[8192]) > 0) received.incrementAndGet();
        } catch (IOException ended) {
          return;
        }
      }
    });
    thread.setDaemon(true);
    thread.start();
    var url = URI.create("http://127.0.0.1:" + server.getLocalPort() + "/");

    var connection = (HttpURLConnection) url.toURL().openConnection();
    connection.setRequestMethod("DELETE");
    try {
      connection.getResponseCode();
    } catch (IOException noAnswer) {}
    int old = received.getAndSet(0);

    var request = HttpRequest.newBuilder(url).version(HttpClient.Version.HTTP_1_1).DELETE().build();
    try {
      HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException noAnswer) {}
    int client = received.get();

    System.out.println("HttpURLConnection " + old + ", HttpClient " + client);
    System.exit(old == 2 && client == 1 ? 0 : 1);
  }
}
EOF
java Run.java
