// The listener of a session, as the session knows it.

import type { ListenerSpec } from '../link.ts';

export interface Endpoint {
  readonly name: string;
  /** The address as the operator wrote it, without name and options. */
  readonly socketText: string;
  /** Whether it is a Unix socket. */
  readonly isPath: boolean;
  /** Whether connections begin with a PROXY preamble. */
  readonly proxy: boolean;
  /** Whether they speak TLS, after the preamble. */
  readonly tls: boolean;
}

export function endpointOf(spec: ListenerSpec): Endpoint {
  const named = /^[A-Za-z][A-Za-z0-9_-]*=/.exec(spec.text);
  const address = spec.text
    .trim()
    .slice(named?.[0].length ?? 0)
    .split(/[,\s]/)[0] as string;
  return {
    name: spec.name,
    socketText: address,
    isPath: spec.path !== undefined,
    proxy: spec.proto === 'PROXY',
    tls: spec.tls === true,
  };
}
