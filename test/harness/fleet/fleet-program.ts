import { backendProgram } from '../proxy.ts';

/** The program of nodes that tests invalidate: objects live for an hour, and this machine may purge and ban. */
export function fleetProgram(originPort: number): string {
  return backendProgram(
    originPort,
    `acl invalidators { "127.0.0.1"; }
include "invalidate.vcl";
sub vcl_backend_response { set beresp.ttl = 1h; }
`,
  );
}
