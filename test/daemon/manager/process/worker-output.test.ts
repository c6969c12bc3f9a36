// Lines of a worker: whole whatever the parts they come in, and bounded.

import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Lines, logOutput, RateLimit } from '../../../../daemon/manager/process/worker-output.ts';

describe('lines', () => {
  it('are the same wherever the text is split', () => {
    const text = 'one\n\ntwo and more\nthree';
    for (let at = 0; at <= text.length; at++) {
      const out: string[] = [];
      const lines = new Lines((line) => out.push(line));
      lines.take(text.slice(0, at));
      lines.take(text.slice(at));
      lines.end();
      expect(out).toEqual(['one', 'two and more', 'three']);
    }
  });

  it('are cut where they are too long, and held no longer when they do not end', () => {
    const out: string[] = [];
    const lines = new Lines((line) => out.push(line));
    lines.take(`${'x'.repeat(2001)}`);
    lines.take(`${'y'.repeat(3000)}\n`);
    expect(out).toEqual([
      `${'x'.repeat(2000)}… (cut; 2001 characters)`,
      `${'y'.repeat(2000)}… (cut; 3000 characters)`,
    ]);
  });
});

describe('the allowance', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('lets a hundred by in ten seconds and counts the others', () => {
    const out: string[] = [];
    const allowance = new RateLimit<string>(
      (line) => out.push(line),
      (count) => `${count} left out`,
    );
    for (let i = 0; i < 250; i++) allowance.take(String(i));
    expect(out).toHaveLength(100);
    vi.advanceTimersByTime(10_000);
    expect(out.slice(99)).toEqual(['99', '150 left out']);
    allowance.take('again');
    vi.advanceTimersByTime(60_000);
    expect(out.slice(101)).toEqual(['again']);
  });
});

describe('a process', () => {
  it('is logged to its last line, under its own id', async () => {
    const out: string[] = [];
    const [a, b] = [new PassThrough(), new PassThrough()];
    logOutput(42, [a, null, b], (text) => out.push(text));
    a.write('from a');
    a.end();
    await vi.waitFor(() => expect(out).toEqual(['Child (42) said from a']), { timeout: 20_000 });
    b.end(`${'b\n'.repeat(200)}`);
    await vi.waitFor(() => expect(out).toContain('Child (42) said 101 more lines, suppressed'), {
      timeout: 20_000,
    });
    expect(out).toHaveLength(101);
  });

  it('reports once how much was left out, whichever stream ends first', async () => {
    const out: string[] = [];
    const [a, b] = [new PassThrough(), new PassThrough()];
    logOutput(42, [a, b], (text) => out.push(text));
    b.write('b\n'.repeat(150));
    a.end();
    await new Promise((closed) => a.on('close', closed));
    b.end('b\n'.repeat(150));
    await vi.waitFor(() => expect(out).toHaveLength(101), { timeout: 20_000 });
    expect(out.at(-1)).toBe('Child (42) said 200 more lines, suppressed');
  });
});
