// The attributes of backends and probes: type, default and meaning. The checker reads names and types, the daemon takes
// the defaults of probes from here, and the manual shows all of it.

import type { Type } from './type-rows.ts';

export interface FieldRow {
  readonly name: string;
  readonly type: Type;
  /** The default in words or as a program would write it; '' where the attribute has none. */
  readonly default: string;
  readonly help: string;
}

const row = <N extends string>(name: N, type: Type, absent: string, help: string) => ({
  name,
  type,
  default: absent,
  help,
});

// biome-ignore format: a row is a line
export const BACKEND_FIELDS = [
  row('host', 'STRING', '',
    'Address or host name, with or without a port: "192.0.2.1", "origin.example:8080". A name is resolved when the program is loaded; one with several addresses of a family needs `.resolve`. Either this or `.path` is required.'),
  row('port', 'STRING', '"80"', 'Port, a number or the name of a service, in quotes.'),
  row('path', 'STRING', '', 'Absolute path of a Unix socket, instead of `.host`. Version 4.1 only.'),
  row('host_header', 'STRING', 'the value of .host', 'The Host header of probes, and of requests that have none.'),
  row('connect_timeout', 'DURATION', 'parameter connect_timeout', 'How long connecting may take.'),
  row('first_byte_timeout', 'DURATION', 'parameter first_byte_timeout', 'How long the response may take to begin.'),
  row('between_bytes_timeout', 'DURATION', 'parameter between_bytes_timeout', 'How long the response may pause.'),
  row('max_connections', 'INT', '0, no limit', 'Most connections at the same time. A fetch beyond it fails at once.'),
  row('proxy_header', 'INT', 'none', 'Version of the PROXY protocol to begin each connection with: 1 or 2.'),
  row('preamble', 'BLOB', 'none', 'Bytes to begin each connection with, in base64: `:AAEC:`.'),
  row('probe', 'PROBE', 'probe default, if declared', 'The health check: the name of a probe, or `{ … }` with the attributes of one.'),
  row('resolve', 'DURATION', 'never', 'How often the name in `.host` is resolved again. Not in Varnish. All addresses found are used.'),
] as const;

/** Defaults of probes as the daemon uses them: those of Varnish. */
export const PROBE_DEFAULTS = {
  url: '/',
  expectedResponse: 200,
  timeout: 2,
  interval: 5,
  window: 8,
  threshold: 3,
};

const { url, expectedResponse, timeout, interval, window, threshold } = PROBE_DEFAULTS;

// biome-ignore format: a row is a line
export const PROBE_FIELDS = [
  row('url', 'STRING', `"${url}"`, 'Target of the request that is sent. Not together with `.request`.'),
  row('request', 'STRING', 'GET of .url with a Host header', 'The whole request, a string for each line, without line ends.'),
  row('expected_response', 'INT', `${expectedResponse}`, 'The status that counts as good, 100 to 999.'),
  row('expect_close', 'BOOL', 'true',
    'Whether the response is complete only when the backend closes the connection. With false the end of the head completes it.'),
  row('timeout', 'DURATION', `${timeout}s`, 'How long a poll may take.'),
  row('interval', 'DURATION', `${interval}s`, 'Time from the start of one poll to the start of the next.'),
  row('initial', 'INT', '.threshold less 1',
    'Good polls to assume at the start. With the default the first poll decides; with .threshold or more the backend is healthy at once.'),
  row('window', 'INT', `${window}, or .threshold plus 1 if that is given`, 'How many of the latest polls count, 1 to 64. Needs `.threshold`.'),
  row('threshold', 'INT', `${threshold}`, 'How many of those must be good for the backend to be healthy.'),
] as const;
