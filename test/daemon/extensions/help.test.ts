// Help of built-in extensions: a text for every row, and a manual page that contains all of them.
import { describe, expect, it } from 'vitest';
import { extensionPage } from '../../../console/documents/extension-page.ts';
import { builtInExtensions } from '../../../daemon/extensions/registry.ts';

const SENTENCES = /^[A-Zn].*[.]$/s;

describe.each(builtInExtensions().map((e) => [e.name, e] as const))('%s', (name, extension) => {
  const objects = Object.entries(extension.objects ?? {});
  const rows = [
    ...Object.entries(extension.functions).map(([f, row]) => [`${name}.${f}`, row] as const),
    ...objects.map(([o, row]) => [`new x = ${name}.${o}`, row] as const),
    ...objects.flatMap(([, o]) => Object.entries(o.methods).map(([m, row]) => [`x.${m}`, row] as const)),
  ];

  it.each(rows)('%s has help in sentences', (_call, row) => {
    expect(row.help).toMatch(SENTENCES);
  });

  it('has a page with all of it', () => {
    expect(extension.help).not.toBe('');
    const page = extensionPage(extension, '1', '2026-01-01');
    for (const [call] of rows) expect(page).toContain(`\\fB${call}`);
  });
});
