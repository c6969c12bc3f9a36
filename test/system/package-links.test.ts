// Links in the installed package: every relative link of every packed page leads to a packed file, and to an existing
// heading.
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { pages as allPages, anchors, links } from '../harness/pages.ts';
import { run } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const packed = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
const files = new Set(
  (JSON.parse(packed.stdout) as { files: { path: string }[] }[])[0]?.files.map((file) => file.path) ?? [],
);
const pages = [...files].filter((file) => file.endsWith('.md')).sort();

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

it('every page but those about the tests is packed', () => {
  expect(allPages().filter((page) => !page.startsWith('test/') && !files.has(page))).toEqual([]);
  for (const page of ['README.md', 'daemon/README.md', 'console/README.md', 'protocol/README.md'])
    expect(pages).toContain(page);
});

it.each(pages)('the links of %s lead to what is packed', (page) => {
  const faults = links(page)
    .map((target) => fault(page, target))
    .filter((why) => why !== null);
  expect(faults).toEqual([]);
});
