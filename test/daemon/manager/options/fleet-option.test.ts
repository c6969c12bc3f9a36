// --fleet and the options beside it.
import { expect, it } from 'vitest';
import { parseOptions } from '../../../../daemon/manager/options/options.ts';

function fleet(...args: string[]): unknown {
  const request = parseOptions(['-b', '127.0.0.1:80', ...args]);
  return request.kind === 'run' ? request.options.fleet : request;
}

it('joins a fleet by its servers and its name', () => {
  expect(fleet()).toBe(null);
  expect(
    fleet('--fleet', 'nats://a:4222,tls://b:4223,[::1],c', '--fleet-name', 'shop', '--node', 'n-1'),
  ).toEqual({
    servers: ['nats://a:4222', 'tls://b:4223', '[::1]', 'c'],
    name: 'shop',
    node: 'n-1',
    creds: null,
    user: null,
    ca: null,
    secret: null,
    accept: 'all',
  });
});

it.each([
  [['--fleet', 'nats://a'], '--fleet needs the name of the fleet: --fleet-name'],
  [['--fleet-name', 'shop'], '--fleet-name makes no sense without --fleet'],
  [['--fleet', 'http://a', '--fleet-name', 'shop'], '--fleet: "http://a" is not nats://host:port'],
  [
    ['--fleet', 'tls://[::1]:4222', '--fleet-name', 'shop'],
    '--fleet: with TLS a server is named, not given by its address: "tls://[::1]:4222"',
  ],
  [
    ['--fleet', 'nats://192.0.2.1:4222', '--fleet-name', 'shop', '--fleet-ca', 'x'],
    '--fleet: with TLS a server is named, not given by its address: "nats://192.0.2.1:4222"',
  ],
  [['--fleet', 'a,', '--fleet-name', 'shop'], '--fleet: "" is not nats://host:port'],
  [
    ['--fleet', 'nats://u:p@a', '--fleet-name', 'shop'],
    '--fleet: credentials belong in a file: --fleet-creds, --fleet-user',
  ],
  [
    ['--fleet', 'a', '--fleet-name', 'a.b'],
    '--fleet-name: "a.b" is not a name of letters, digits, - and _, 64 at most',
  ],
  [
    ['--fleet', 'a', '--fleet-name', 'a', '--fleet-creds', 'x', '--fleet-user', 'y'],
    'Only one of --fleet-creds and --fleet-user can be specified',
  ],
  [
    ['--fleet', 'a', '--fleet-name', 'a', '--fleet-accept', 'none'],
    '--fleet-accept: "none" is neither all nor invalidate',
  ],
  [['--fleet', 'a', '--fleet', 'b', '--fleet-name', 'a'], 'Only one --fleet can be specified'],
])('%s is refused', (args, message) => {
  expect(() => fleet(...args)).toThrow(message);
});
