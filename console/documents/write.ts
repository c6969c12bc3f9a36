// Writes manual pages and completion scripts to dist/man and dist/completion of a built package. Run by the build.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { completionScripts } from './completion-scripts.ts';
import type { DocumentedExtension } from './extension-page.ts';
import { type DocumentedLanguage, GENERATED, type LanguageTexts } from './language-page.ts';
import { manualPages } from './manual.ts';

/** Parts of proxy-tls(7), in their order. */
const TLS_PAGES = ['daemon/tls/LISTENERS.md', 'daemon/tls/ORIGINS.md', 'daemon/tls/AUTOMATIC.md'];

/**
 * @param root folder of package.json, as a URL that ends in a slash
 * @param extensions the built-in ones, each of which gets a page
 * @param tables of the compiler
 */
export function writeDocuments(
  root: URL,
  extensions: readonly DocumentedExtension[],
  tables: DocumentedLanguage,
): void {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    version: string;
  };
  const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
  // Pages without their titles.
  const page = (path: string): string => text(path).replace(/^# .*\n+/, '');
  write(
    new URL('dist/man/', root),
    manualPages(
      version,
      new Date().toISOString().slice(0, 10),
      {
        differences: page('daemon/differences/README.md'),
        fleet: page('daemon/fleet/OPERATING.md'),
        http2: page('daemon/net/HTTP2.md'),
        tls: TLS_PAGES.filter((path) => existsSync(new URL(path, root))).map(page),
      },
      extensions,
      { tables, texts: languageTexts(root) },
    ),
  );
  write(new URL('dist/completion/', root), completionScripts());
}

/** Texts of the language page, sorted by file name. */
export function languageTexts(root: URL): LanguageTexts {
  const folder = new URL('daemon/vcl/', root);
  const text = (path: string): string => readFileSync(new URL(path, folder), 'utf8');
  const recipes = readdirSync(new URL('recipes/', folder))
    .sort()
    .map((name) => ({ name, text: text(`recipes/${name}`) }))
    // The others are parts, to be included by programs.
    .filter((recipe) => /^vcl \d/m.test(recipe.text));
  return { tutorial: text('README.md').split(GENERATED)[0] as string, recipes, builtin: text('builtin.vcl') };
}

function write(folder: URL, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(new URL(name, folder), text);
}
