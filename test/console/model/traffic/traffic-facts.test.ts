// Facts of a request for rankings and latencies.
import { expect, it } from 'vitest';
import { readTraffic } from '../../../../console/model/traffic/traffic-facts.ts';
import { record } from '../../fake-recording.ts';

it.each([
  ['of Varnish 6, which says no more of it', [], 0.4],
  ['that was on its way before', ['Process: 10.3 0.3 0.3'], 0.3],
])('has the time to the first byte of a pipe %s', (_name, before, seconds) => {
  const texts = [...before, 'Pipe: 10.4 0.4 0.1', 'PipeSess: 12.0 2.0 1.6'];
  const records = Buffer.concat(texts.map((text) => record('c', 2, 'Timestamp', text)));
  const [facts] = readTraffic([{ level: 1, type: 'request', reason: 'rxreq', vxid: 2, parent: 1, records }]);
  expect(facts?.seconds).toBe(seconds);
});
