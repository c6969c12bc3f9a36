// Long replies on both ways to a client: the same bytes as in one piece, a few in one turn of the event loop, and nothing more
// for a client that has gone.
import { PassThrough } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { encodeLong, isLong, pieces } from '../../../../daemon/manager/endpoints/long-text.ts';
import { writeReply } from '../../../../daemon/manager/endpoints/text-cli.ts';
import { turns } from '../../../../daemon/turns/turns.ts';

afterEach(() => void vi.restoreAllMocks());

const body = `"quoted" \\ é ${'🙂'.repeat(300_000)}\n\u0000`;

it('is cut between characters', () => {
  const all = [...pieces(body)];
  expect(all.join('')).toBe(body);
  expect(all.length).toBeGreaterThan(4);
  for (const piece of all) expect(Buffer.from(piece).toString()).toBe(piece);
});

it('is the JSON that a short one would be, whatever its first words are', async () => {
  for (const each of [body, `${'x'.repeat(200_000)}"body":" "`]) {
    const reply = { t: 'reply', id: 7, status: 200, body: each } as const;
    expect(isLong(each)).toBe(true);
    expect((await encodeLong(reply, () => true))?.toString()).toBe(JSON.stringify(reply));
  }
});

it('gives up its turn between pieces, and ends when nobody waits for it', async () => {
  vi.spyOn(turns, 'mayContinue').mockReturnValue(false);
  const stringify = vi.spyOn(JSON, 'stringify');
  let wanted = true;
  const encoding = encodeLong({ t: 'reply', id: 7, status: 200, body }, () => wanted);
  expect(stringify.mock.calls.length).toBeLessThanOrEqual(2);
  wanted = false;
  expect(await encoding).toBe(null);
  expect(stringify.mock.calls.length).toBeLessThanOrEqual(2);
});

it('is written to a text client with its length, a piece in a turn', async () => {
  vi.spyOn(turns, 'mayContinue').mockReturnValue(false);
  const output = new PassThrough();
  const writing = writeReply(output, { status: 200, body });
  expect(output.readableLength).toBeLessThan(1 << 20);
  const got: Buffer[] = [];
  output.on('data', (bytes: Buffer) => got.push(bytes));
  await writing;
  await new Promise((go) => setImmediate(go));
  expect(Buffer.concat(got).toString()).toBe(`200 ${String(Buffer.byteLength(body)).padEnd(8)}\n${body}\n`);
});
