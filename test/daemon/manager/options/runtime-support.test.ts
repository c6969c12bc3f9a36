import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { versionText } from '../../../../daemon/manager/options/documents.ts';
import { runtimeSupport } from '../../../../daemon/manager/options/runtime-support.ts';

const ON = (day: string): number => Date.parse(day);

it.each([
  ['20.19.0', '2026-04-29', 'Node 26 is recommended'],
  [
    '20.19.0',
    '2026-04-30',
    'Warning: Node 20 has had no security fixes since 2026-04-30; Node 26 is recommended',
  ],
  [
    '25.1.0',
    '2026-11-29',
    'Warning: Node 25 has had no security fixes since 2026-06-01; Node 26 is recommended',
  ],
  ['24.4.1', '2026-11-29', 'Node 26 is recommended'],
  ['26.10.0', '2026-11-29', ''],
  ['26.10.0', '2029-05-01', 'Warning: Node 26 has had no security fixes since 2029-04-30'],
  ['28.0.0', '2040-01-01', ''],
])('Node %s on %s: %j', (version, day, text) => {
  expect(runtimeSupport(version, ON(day))).toBe(text);
});

it('is a line of -V of its own, where there is something to say', () => {
  const lines = versionText('1.2.3', ON('2026-11-29')).trimEnd().split('\n');
  const at = lines.findIndex((line) => line.startsWith(`Node ${process.versions.node}, `));
  const support = runtimeSupport(process.versions.node, ON('2026-11-29'));
  expect(lines.slice(at + 1)).toEqual(support === '' ? [] : [support]);
});

it('recommends the release that packages bring', () => {
  const page = readFileSync(new URL('../../../../daemon/packaging/runtime.js', import.meta.url), 'utf8');
  const major = /version: '(\d+)\./.exec(page)?.[1];
  expect(runtimeSupport('22.0.0', ON('2026-11-29'))).toBe(`Node ${major} is recommended`);
});
