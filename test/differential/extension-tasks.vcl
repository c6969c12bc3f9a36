vcl 4.1;
# Private data of tasks, rollbacks in the states that have them, and request bodies that are kept.
import std; import var; import cookie; import header;
backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  if (req.restarts == 0) {
    cookie.set("c", "client"); var.set("v", "client"); set req.http.X-New = "1";
    if (req.url !~ "body") { set req.url = req.url + "?changed"; }
  }
  set req.http.seen = "[" + cookie.get_string() + "][" + var.get("v") + "]";
  std.collect(req.http.x-a);
  if (req.url ~ "cached" && req.restarts == 0) {
    std.log("before");
    if (std.cache_req_body(1KB)) { set req.http.cached = "yes"; } else { std.log("not cached"); }
    set req.http.length = req.http.content-length;
  }
  if (req.url ~ "roll-recv") { std.rollback(req); set req.http.after = "x"; }
  if (req.url ~ "hit") { return (hash); }
  if (req.url ~ "pipe") { return (pipe); }
  return (pass);
}
sub vcl_hit {
  if (req.url ~ "collect") { std.collect(obj.http.X-M); }
  if (req.url ~ "roll") { std.rollback(req); }
}
sub vcl_pass { set req.http.pass = cookie.get_string(); }
sub vcl_backend_fetch {
  set bereq.http.be = "[" + cookie.get_string() + "][" + var.get("v") + "]";
  if (bereq.retries == 0) { cookie.set("b", "backend"); var.set("v", "backend"); }
  if (bereq.url ~ "roll-bereq") { unset bereq.http.X-b; set bereq.url = "/rolled"; std.rollback(bereq); }
  if (bereq.url ~ "plain") { header.append(bereq.http.X-Two, "2"); header.regsub(bereq, "^X-b: (.)", "X-bb: \1\1"); }
}
sub vcl_backend_response {
  set beresp.http.br = "[" + cookie.get_string() + "][" + var.get("v") + "]";
  header.append(beresp.http.X-M, "2");
  std.collect(beresp.http.X-M, "; ");
  if (bereq.url ~ "retry" && bereq.retries == 0) {
    if (bereq.url ~ "roll") { std.rollback(bereq); }
    return (retry);
  }
  if (bereq.url ~ "roll-answer") { std.rollback(bereq); }
}
sub vcl_deliver {
  set resp.http.d = "[" + cookie.get_string() + "][" + var.get("v") + "]" + req.http.pass;
  set resp.http.l = req.http.length;
  if (req.url ~ "restart" && req.restarts == 0) {
    if (req.url ~ "roll") { std.rollback(req); set req.http.kept = "k"; }
    return (restart);
  }
  header.append(resp.http.Set-Cookie, "a=1");
  header.append(resp.http.Set-Cookie, "b=2");
  header.copy(resp.http.Set-Cookie, resp.http.Old);
}
