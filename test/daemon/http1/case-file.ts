// Reads a Markdown case file: `## name`, a fence of bytes, a fence of expected events. In the bytes, line breaks of
// the file mean nothing and \r \n \t \0 \xNN \\ are escapes; `\{text*1000}` repeats. Prose between is for readers.

import { readFileSync } from 'node:fs';

export interface Case {
  name: string;
  bytes: Buffer;
  events: string[];
}

export function readCases(file: string): Case[] {
  const text = readFileSync(new URL(`./cases/${file}`, import.meta.url), 'utf8');
  const cases: Case[] = [];
  for (const section of text.split(/^## /m).slice(1)) {
    const name = section.slice(0, section.indexOf('\n')).trim();
    const fences = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
    const bytes = fences.find((f) => f[1] === 'bytes');
    const events = fences.find((f) => f[1] === 'events');
    if (bytes === undefined || events === undefined) throw new Error(`${file}: case "${name}" is incomplete`);
    cases.push({
      name,
      bytes: unescapeBytes(bytes[2] as string),
      events: (events[2] as string).split('\n').filter((line) => line !== ''),
    });
  }
  return cases;
}

function unescapeBytes(text: string): Buffer {
  const repeated = text.replace(/\n/g, '').replace(/\\\{(.*?)\*(\d+)\}/g, (_, s, n) => s.repeat(Number(n)));
  const plain: { [letter: string]: string } = { r: '\r', n: '\n', t: '\t', 0: '\0', '\\': '\\' };
  const bytes = repeated.replace(/\\(x([0-9a-f]{2})|.)/g, (_, one: string, hex?: string) =>
    hex !== undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : (plain[one] as string),
  );
  return Buffer.from(bytes, 'latin1');
}
