# Varnish in the place of haproxy.cfg: in front of two gateways, behind hitch, which speaks TLS. It bounds neither connections nor streams of
# one address: there is what is in front of it, and `server.connectionsPerAddress` of the gateways. Run with 7.1 and hitch 1.7:
#   varnishd -F -f varnish.vcl -a 127.0.0.1:6086,PROXY -p feature=+http2 -p h2_max_concurrent_streams=20 -p timeout_idle=60
#   hitch --frontend='[*]:8443' --backend='[127.0.0.1]:6086' --write-proxy-v2 --alpn-protos=h2,http/1.1 /run/secrets/certificate
vcl 4.1;

import std;
import directors;

# 15 s: longer than the provider's timeout (10 s), which the gateway answers itself.
backend gateway_1 {
  .host = "gateway-1";
  .port = "8080";
  .connect_timeout = 2s;
  .first_byte_timeout = 15s;
}
backend gateway_2 {
  .host = "gateway-2";
  .port = "8080";
  .connect_timeout = 2s;
  .first_byte_timeout = 15s;
}

# Much quicker than server.shutdownDelay (2 s), for which a gateway still takes requests after it has said that it ends. A probe uses the port
# of its backend, so the checks have backends of their own: else requests go to an ended gateway.
probe ready {
  .url = "/readyz";
  .interval = 500ms;
  .timeout = 1s;
  .window = 1;
  .threshold = 1;
  .initial = 1;
}
backend ready_1 {
  .host = "gateway-1";
  .port = "9090";
  .probe = ready;
}
backend ready_2 {
  .host = "gateway-2";
  .port = "9090";
  .probe = ready;
}

sub vcl_init {
  new both = directors.round_robin();
  both.add_backend(gateway_1);
  both.add_backend(gateway_2);
}

sub vcl_recv {
  # What the client says of its address is thrown away: limits count by it.
  set req.http.X-Forwarded-For = client.ip;
  # A gateway refuses it before it has come, and Varnish takes that for an answer that broke off.
  if (req.http.Content-Length ~ "^([2-9][0-9]{6}|[0-9]{8,})$") {
    return (synth(413, "Content Too Large"));
  }
  if (!std.healthy(ready_1) && std.healthy(ready_2)) {
    set req.backend_hint = gateway_2;
  } else if (std.healthy(ready_1) && !std.healthy(ready_2)) {
    set req.backend_hint = gateway_1;
  } else {
    set req.backend_hint = both.backend();
  }
  # Nothing is kept: a response is for one client.
  return (pass);
}

sub vcl_backend_fetch {
  # No connection is used twice: what has no body, a DELETE too, Varnish sends again if a used one ends before the answer.
  set bereq.http.Connection = "close";
  # A stream has a comment each 15 s; the native lane is silent for `nativeIdle` (30 s) at most.
  if (bereq.url ~ "/events(\?|$)" || bereq.url ~ "^/native/") {
    set bereq.first_byte_timeout = 60s;
    set bereq.between_bytes_timeout = 60s;
  } else {
    set bereq.between_bytes_timeout = 15s;
  }
  return (fetch);
}

sub vcl_synth {
  if (resp.status == 413) {
    set resp.http.Content-Type = "application/json; charset=utf-8";
    set resp.body = {"{"error":"Content Too Large","message":"The body is too large.","code":413}"};
    return (deliver);
  }
}

# No `return (retry)`, which would repeat requests: Varnish does not say whether the request was sent. Most often it was not, if a gateway
# has just ended.
sub vcl_backend_error {
  set beresp.status = 502;
  set beresp.reason = "Bad Gateway";
  set beresp.http.Content-Type = "application/json; charset=utf-8";
  set beresp.http.Retry-After = "5";
  set beresp.body = {"{"error":"Bad Gateway","message":"The answer broke off, or did not come in time. Look into your list before you create again.","code":502}"};
  return (deliver);
}
