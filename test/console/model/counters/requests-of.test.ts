// Requests of clients, out of a counter that has some of them twice.
import { expect, it } from 'vitest';
import { requestsOf } from '../../../../console/model/counters/rate-history.ts';

it.each([
  ['', 97],
  ['proxyd-1.0.0', 97],
  ['varnish-6.5.1', 90],
  ['varnish-7.1.1', 90],
  ['varnish-7.2.0', 100],
  ['varnish-7.7.0', 100],
  ['varnish-10.0.0', 100],
])('of %j: %d', (version, requests) => {
  const counters = { 'MAIN.client_req': 100, 'MAIN.client_req_again': 3, 'MAIN.busy_wakeup': 10 };
  expect(requestsOf((name) => counters[name], version)).toBe(requests);
});
