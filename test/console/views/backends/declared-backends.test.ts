// Addresses and probes of backends, read from the sources of a program.
import { expect, it } from 'vitest';
import { declaredBackends } from '../../../../console/views/backends/declared-backends.ts';

it('reads addresses and probes, and nothing out of comments, strings and subroutines', () => {
  const found = declaredBackends([
    `vcl 4.1; # backend none { .host = "no"; }
/* backend nor { .host = "this"; } */
import std;
probe polls { .url = "/ok"; .interval = 0.5s; }
backend web { .host = "web.example"; .probe = polls; }
backend app {
  .host = "10.0.0.1"; .port = "8080";   // }
  .probe = { .request = "HEAD /alive HTTP/1.1" "Host: app"; .timeout = 1s; }
  .max_connections = 9;
}`,
    `backend six { .host = "::1"; .port = "81"; }
backend whole { .host = "10.0.0.2:8081"; .host_header = "whole"; }
backend local { .path = "/run/app.sock"; }
backend safe { .host = "safe.example"; .ssl = 1; }
backend saved { .host = "saved.example"; .port = "8443"; .ssl = true; }
sub vcl_recv { set req.http.x = {"backend text { .host = "no"; }"}; if (req.url == "/}") { return (pass); } }`,
  ]);
  const probe = (asks: string, interval: string, timeout: string) => ({ asks, interval, timeout });
  expect(Object.fromEntries(found)).toEqual({
    web: { address: 'web.example:80', tls: false, probe: probe('GET /ok', '0.5s', '2s') },
    app: { address: '10.0.0.1:8080', tls: false, probe: probe('HEAD /alive HTTP/1.1', '5s', '1s') },
    six: { address: '[::1]:81', tls: false, probe: null },
    whole: { address: '10.0.0.2:8081', tls: false, probe: null },
    local: { address: '/run/app.sock', tls: false, probe: null },
    safe: { address: 'safe.example:443', tls: true, probe: null },
    saved: { address: 'saved.example:8443', tls: true, probe: null },
  });
});
