// Writes manual pages and completion scripts below a built package: dist/man and dist/completion. Run by the build; asks
// each tool for its usage text.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { completionScripts } from './completion.ts';
import { manualPages } from './manual.ts';
import { TOOLS } from './tools.ts';

/** @param root folder of package.json, as a URL that ends in a slash */
export function writeDocuments(root: URL): void {
  const { bin, version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    bin: Record<string, string>;
    version: string;
  };
  const usages = new Map(
    TOOLS.map(({ name }) => {
      const program = new URL(bin[name] as string, root).pathname;
      const asked = name === 'proxyd' ? '-?' : '-h';
      // Some print it to standard error, and the daemon takes a question for a mistake.
      const said = spawnSync(process.execPath, [program, asked], { encoding: 'utf8' });
      const text = `${said.stdout}${said.stderr}`;
      if (!text.startsWith('Usage:')) throw new Error(`${name} ${asked} gives no usage: ${text}`);
      return [name, text];
    }),
  );
  const differences = /\n## What is different from Varnish\n+([\s\S]*?)\n## /.exec(
    readFileSync(new URL('README.md', root), 'utf8'),
  );
  write(
    new URL('dist/man/', root),
    manualPages(version, new Date().toISOString().slice(0, 10), usages, differences?.[1] ?? ''),
  );
  write(new URL('dist/completion/', root), completionScripts(usages));
}

function write(folder: URL, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(new URL(name, folder), text);
}
