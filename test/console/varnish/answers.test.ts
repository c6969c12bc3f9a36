// Parsing of output of Varnish's tools.
import { describe, expect, it } from 'vitest';
import { parseCounters } from '../../../console/varnish/counter-samples.ts';
import { whyNothing } from '../../../console/varnish/far-shell.ts';
import { LossMeter } from '../../../console/varnish/loss-meter.ts';
import { encodeLine } from '../../../console/varnish/tool-scripts.ts';
import { readReply } from '../../../console/varnish/varnish-commands.ts';
import { WorkerWatch } from '../../../console/varnish/worker-watch.ts';
import { run } from '../../harness/processes.ts';

const here = { host: '', port: '', name: 'x' };
const there = { host: 'web1', port: '', name: '' };

describe('varnishstat', () => {
  const row = { description: 'Good', flag: 'c', format: 'i', value: 12 };
  it.each([
    ['in an object of their own', { version: 1, timestamp: 't', counters: { 'MAIN.client_req': row } }],
    ['beside the time', { timestamp: 't', 'MAIN.client_req': { type: 'MAIN', ...row } }],
  ])('has its counters %s', (_name, reported) => {
    expect(parseCounters(JSON.stringify(reported))).toEqual({
      info: [{ name: 'MAIN.client_req', flag: 'c', format: 'i', level: 'info', description: 'Good' }],
      values: [12n],
    });
  });

  it('keeps all bits', () => {
    const text =
      '{"counters": {"VBE.a.b.happy": {"flag": "b", "format": "b", "value": 18446744073709551615}}}';
    expect(parseCounters(text)?.values).toEqual([18446744073709551615n]);
  });

  it.each(['', 'no JSON', '[]', '{}', 'null'])('is not %j', (text) => {
    expect(parseCounters(text)).toBeNull();
  });
});

describe('varnishadm', () => {
  it.each([
    [
      { code: 0, text: 'a\nb\n\n' },
      { status: 200, body: 'a\nb\n' },
    ],
    [
      { code: 1, text: 'Unknown request.\nCommand failed with error code 101\n' },
      { status: 101, body: 'Unknown request.' },
    ],
    [
      { code: 1, text: "Command failed with error code 101\nUnknown request.\nType 'help'.\n" },
      { status: 101, body: "Unknown request.\nType 'help'." },
    ],
    [
      { code: 0, text: 'Command failed with error code 101\nis what it prints\n' },
      { status: 200, body: 'Command failed with error code 101\nis what it prints' },
    ],
    [
      { code: 0, text: 'long\n[response was truncated]\n' },
      { status: 201, body: 'long' },
    ],
    [
      { code: 127, text: 'sh: 1: varnishadm: not found\n' },
      {
        status: 0,
        body: 'varnishadm is not found: Varnish is not installed, or its tools are not in the PATH',
      },
    ],
  ])('%j', (answer, reply) => {
    expect(readReply(answer, here)).toEqual(reply);
  });

  it('takes any command on one line', async () => {
    const command = 'vcl.inline a << E\nvcl 4.1; # "\\n" ü %s $(x) `y`\nE';
    const line = encodeLine(command);
    expect(line).toMatch(/^[ -~]*$/);
    const { stdout } = await run('/bin/sh', ['-c', 'printf %b "$1"', 'sh', line]);
    expect(Buffer.from(stdout, 'latin1').toString()).toBe(command);
  });
});

it.each([
  [
    here,
    { code: 1, output: '.\nCould not get hold of varnishd, is it running?' },
    'cannot read a Varnish here under the name x: it is not running, or this needs root or the group varnish',
  ],
  [
    there,
    { code: 255, output: 'ops@web1: Permission denied (publickey).' },
    'ssh web1: ops@web1: Permission denied (publickey). (ssh cannot prompt here: use a key without a passphrase, or an agent; try ssh by hand)',
  ],
  [there, { code: 255, output: '' }, 'ssh web1: the connection ended'],
  [
    there,
    { code: 127, output: 'sh: varnishlog: not found' },
    'tool on web1 is not found: Varnish is not installed, or its tools are not in the PATH of a shell without a login',
  ],
  [here, { code: 3, output: '' }, 'tool ended with 3'],
])('says why there is nothing: %j %j', (target, end, text) => {
  expect(whyNothing(target, 'tool', end)).toBe(text);
});

it('notices what became of the child', () => {
  const watch = new WorkerWatch();
  const sample = (counters: Record<string, bigint>): ReturnType<WorkerWatch['changes']> =>
    watch.changes(new Map(Object.entries(counters)));
  const up = { 'MGT.child_start': 1n, 'MGT.child_panic': 0n, 'MAIN.uptime': 5n };
  expect(sample(up)).toEqual([]);
  expect(sample(up)).toEqual([]);
  expect(sample({ 'MGT.child_start': 2n, 'MGT.child_panic': 1n, 'MAIN.uptime': 0n })).toEqual([
    ['died', 'panic'],
    ['started', ''],
  ]);
  expect(sample({ 'MGT.child_start': 2n, 'MGT.child_panic': 1n })).toEqual([['stopped', '']]);
});

it('counts what was lost by what Varnish has written', () => {
  const meter = new LossMeter();
  const written = (n?: bigint): number =>
    meter.sample(new Map(n === undefined ? [] : [['MAIN.shm_records', n]]));
  expect(written(1000n)).toBe(0);
  meter.came(50);
  expect(written(1050n)).toBe(0);
  // It lags, and reports so too late.
  expect(written(1150n)).toBe(0);
  meter.overran();
  meter.came(20);
  expect(written(1370n)).toBe(300);
  meter.came(5);
  expect(written(1380n)).toBe(0);
  meter.came(5);
  expect(written(1380n)).toBe(0);
  meter.overran();
  expect(written(1381n)).toBe(1);
  // Another child counts from zero.
  meter.overran();
  expect(written(10n)).toBe(1);
  meter.overran();
  expect(written()).toBe(1);
});
