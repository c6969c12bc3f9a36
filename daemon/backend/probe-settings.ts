// The settings of a probe, from its declaration and its backend's: the request, the expected status, and the shape of
// its window. The defaults are in vcl/tables/language.ts, with Varnish's special case: a threshold without a window
// makes a window one larger than itself.

import type { BackendDecl, ProbeDecl } from '../contract/program.ts';
import { PROBE_DEFAULTS } from '../vcl/tables/language.ts';

/** Times in seconds. */
export interface ProbeSettings {
  readonly request: Buffer;
  readonly expected: number;
  /** Whether the answer is complete when the origin closes; otherwise at the end of its head. */
  readonly expectClose: boolean;
  readonly timeout: number;
  readonly interval: number;
  /** Good polls that the window starts with. */
  readonly initial: number;
  readonly window: number;
  readonly threshold: number;
}

const SHORTEST_INTERVAL = 0.001;

export function probeSettings(probe: ProbeDecl, backend: BackendDecl): ProbeSettings {
  const threshold = probe.threshold || PROBE_DEFAULTS.threshold;
  const window =
    probe.window ?? (probe.threshold === undefined ? PROBE_DEFAULTS.window : probe.threshold + 1);
  return {
    request: requestBytes(probe, backend),
    expected: probe.expectedResponse ?? PROBE_DEFAULTS.expectedResponse,
    expectClose: probe.expectClose ?? true,
    timeout: probe.timeout || PROBE_DEFAULTS.timeout,
    interval: Math.max(SHORTEST_INTERVAL, probe.interval || PROBE_DEFAULTS.interval),
    initial: Math.min(probe.initial ?? threshold - 1, threshold),
    window,
    threshold,
  };
}

function requestBytes(probe: ProbeDecl, backend: BackendDecl): Buffer {
  const host = backend.hostHeader ?? backend.host ?? '0.0.0.0';
  const lines = probe.request ?? [
    `GET ${probe.url ?? PROBE_DEFAULTS.url} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
  ];
  return Buffer.from(`${lines.map((line) => `${line}\r\n`).join('')}\r\n`);
}
