import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { decodeClientMessage, decodeServerMessage, LIMITS } from '../../protocol/codec.ts';
import { PROTOCOL_ERRORS, ProtocolError } from '../../protocol/errors.ts';

const text = readFileSync(new URL('../../protocol/README.md', import.meta.url), 'utf8').replace(
  / +\|/g,
  ' |',
);

it('shows only messages that the codec takes', () => {
  const messages = [...text.matchAll(/\{"t":.*\}/g)].flatMap(([m]) => m.split(/(?<=\})`[^`]*`(?=\{)/));
  expect(messages.length).toBeGreaterThan(15);
  for (const m of messages) {
    const asClient = decodeClientMessage(m);
    const asServer = decodeServerMessage(m);
    expect(asClient instanceof ProtocolError && asServer instanceof ProtocolError, m).toBe(false);
  }
});

it('names every error with its close code, and the limits', () => {
  for (const [code, { close }] of Object.entries(PROTOCOL_ERRORS)) {
    const row = text.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${code}\``));
    expect(row, code).toBeDefined();
    if (close !== null) expect(row).toContain(String(close));
  }
  for (const n of [LIMITS.line, LIMITS.query]) expect(text).toContain(n.toLocaleString('en'));
  expect(text).toContain(`| ${LIMITS.subscriptions} |`);
  expect(text).toContain(`| ${LIMITS.filters} |`);
  expect(text).toContain(`| ${LIMITS.commands} |`);
});
