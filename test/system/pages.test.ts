// The pages of the repository: every link leads somewhere, every page is found from the README, and the README is short.
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { extensionNames } from '../../daemon/extensions/registry.ts';
import { anchors, blocks, links, pages, pageText } from '../harness/pages.ts';
import { run, Sandbox } from '../harness/processes.ts';
import { ROOT, tool } from '../harness/proxy.ts';

const all = pages();
const box = new Sandbox('proxyd-pages');
afterAll(() => box.dispose());

/** Where a link leads: path below the root and fragment. */
function target(page: string, link: string): { path: string; fragment: string | undefined } {
  const [path = '', fragment] = link.split('#');
  return { path: path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path))), fragment };
}

/** The reason why a link leads nowhere; null when it leads somewhere. */
function fault(page: string, link: string): string | null {
  const { path, fragment } = target(page, link);
  if (!existsSync(join(ROOT, path))) return `${link}: there is no ${path}`;
  if (fragment !== undefined && !anchors(path).includes(fragment))
    return `${link}: ${path} has no heading #${fragment}`;
  return null;
}

describe('the links', () => {
  it.each(all)('of %s lead to files and headings that exist', (page) => {
    expect(
      links(page)
        .map((link) => fault(page, link))
        .filter((why) => why !== null),
    ).toEqual([]);
  });

  it('reach every page from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const link of links(page)) {
        const { path } = target(page, link);
        if (all.includes(path)) reached.add(path);
      }
    }
    // Pages about the tests are not packed, so that no packed page may link to them.
    expect(all.filter((page) => !reached.has(page) && !page.startsWith('test/'))).toEqual([]);
  });
});

describe('the README', () => {
  it('is read in three minutes', () => {
    expect(pageText('README.md').split('\n').length).toBeLessThanOrEqual(151);
  });

  it('begins with what it is, the picture and the two commands', () => {
    expect(pageText('README.md')).toMatch(
      /^# proxyd\n\n`proxyd` is [\s\S]*?\n\n!\[.*\]\(screenshots\/why-animated\.png\)\n\n```sh\nnpm ci && npm run demo .*\nnpm ci && npm test .*\n```\n/,
    );
  });
});

it('daemon/README.md names every built-in extension', () => {
  const list = /^Built-in extensions \(`import x;`\): ([\s\S]*?)\. Each has a manual page/m.exec(
    pageText('daemon/README.md'),
  )?.[1];
  expect(
    list
      ?.replace(/\[(\w+)\]\([^)]*\)/g, '$1')
      .split(/,\s+/)
      .sort(),
  ).toEqual([...extensionNames()].sort());
});

it('npx finds the commands in the checkout', async () => {
  const asked = await run('npx', ['proxyd', '-V'], { cwd: ROOT });
  expect([asked.code, asked.stdout + asked.stderr]).toEqual([0, expect.stringContaining('proxyd-')]);
});

describe('the programs on the pages', () => {
  const programs = all
    // The recipes of the language have tests of their own.
    .filter((page) => !page.startsWith('daemon/vcl/'))
    .flatMap((page) => blocks(page).filter(({ kind }) => kind === 'vcl'));

  it.each(programs.map(({ page, line, lines }) => [`${page}:${line}`, lines.join('\n')]))(
    '%s compiles',
    async (_, text) => {
      const whole = text.startsWith('vcl ') ? text : `vcl 4.1;\nbackend default none;\n${text}`;
      const file = `${box.path('program')}.vcl`;
      writeFileSync(file, whole);
      const compiled = await tool('proxyd', 'daemon', ['-C', '-f', file]);
      expect([compiled.code, compiled.code === 0 ? '' : compiled.stdout + compiled.stderr]).toEqual([0, '']);
    },
  );
});
