// What a reader of the installed package finds: every relative link of every page that is packed leads to a file that is
// packed, and to a heading that is there.
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const packed = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
const files = new Set(
  (JSON.parse(packed.stdout) as { files: { path: string }[] }[])[0]?.files.map((file) => file.path) ?? [],
);
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const pages = [...files].filter((file) => file.endsWith('.md')).sort();

/** Pages without what stands between fences. */
const prose = (file: string): string => text(file).replace(/^```[\s\S]*?^```/gm, '');

/** A heading as a link names it. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchors(file: string): string[] {
  return [...prose(file).matchAll(/^#+ +(.*)$/gm)].map((m) => anchor(m[1] as string));
}

/** Why a link leads nowhere; null when it leads somewhere. */
function fault(page: string, target: string): string | null {
  const [path = '', fragment] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  const folder = file.endsWith('/') ? file : `${file}/`;
  if (!files.has(file)) return [...files].some((f) => f.startsWith(folder)) ? null : `${file} is not packed`;
  if (fragment !== undefined && !anchors(file).includes(fragment))
    return `${file} has no heading #${fragment}`;
  return null;
}

it('finds the pages', () => {
  for (const page of ['README.md', 'console/README.md', 'protocol/README.md', 'daemon/extensions/README.md'])
    expect(pages).toContain(page);
});

it.each(pages)('the links of %s lead to what is packed', (page) => {
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map((m) => m[1] as string);
  const relative = targets.filter((target) => !/^[a-z]+:/i.test(target));
  const faults = relative.map((target) => fault(page, target)).filter((why) => why !== null);
  expect(faults).toEqual([]);
});
