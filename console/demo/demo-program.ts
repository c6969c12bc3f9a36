// The VCL program of the demo.

/**
 * VCL for an origin on this port of the loopback interface.
 * @param invalidation VCL for the editor's purges, if any: edgePart() or FLEET_PART
 */
export function demoProgram(port: number, invalidation = ''): string {
  return `vcl 4.1;
${invalidation}
backend shop {
  .host = "127.0.0.1";
  .port = "${port}";
  .connect_timeout = 1s;
  .first_byte_timeout = 5s;
  .probe = { .url = "/"; .interval = 2s; .timeout = 1s; .window = 8; .threshold = 4; .initial = 4; }
}

backend images {
  .host = "127.0.0.1";
  .port = "${port}";
  .probe = { .url = "/health/images"; .interval = 1s; .timeout = 1s; .window = 4; .threshold = 3; .initial = 3; }
}

sub vcl_recv {
  if (req.url ~ "^/img/") {
    set req.backend_hint = images;
  } else {
    set req.backend_hint = shop;
  }
  if (req.url ~ "^/(cart|checkout|parts/basket)") {
    return (pass);
  }
  if (req.url == "/status") {
    return (synth(200, "Serving"));
  }
  unset req.http.Cookie;
}

sub vcl_backend_response {
  set beresp.grace = 10s;
  if (bereq.url == "/home") {
    set beresp.do_esi = true;
  }
  if (bereq.url ~ "^/static/") {
    unset beresp.http.Set-Cookie;
  }
}

sub vcl_deliver {
  if (obj.hits > 0) {
    set resp.http.X-Cache = "HIT";
  } else {
    set resp.http.X-Cache = "MISS";
  }
}
`;
}

/** A purge on one proxy of the fleet is applied by all of them; see invalidate.vcl. */
export const FLEET_PART = `
acl invalidators { "127.0.0.1"; }
include "invalidate.vcl";
`;

/**
 * Invalidations are forwarded to the edge network; see edge_auto.vcl.
 * @param address of the edge network in front
 */
export function edgePart(address: string): string {
  return `
import std;
import edge;
import xkey;
# An edge network is in front of this proxy: http://${address}/ (Host: shop.example).
include "edge_auto.vcl";
`;
}
