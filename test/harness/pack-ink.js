// Puts Ink and what it needs, React apart, into the compiled console/tui/ink.js: one file instead of six hundred, and
// half the time of a cold start. Without the bundler the file stays as tsc wrote it and loads the modules from
// node_modules, which is slower and the same in all else.
import { readFileSync } from 'node:fs';

/** `entry`: path of the compiled module. */
export async function packInk(entry) {
  let esbuild;
  try {
    esbuild = await import('esbuild');
  } catch {
    return;
  }
  // Packed already, and not compiled since: tsc leaves what has not changed.
  if (!readFileSync(entry, 'utf8').includes("from 'ink'")) return;
  await esbuild.build({
    entryPoints: [entry],
    outfile: entry,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'eof',
    // The production reconciler, as the launcher of the console takes it, and no developer tools.
    define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    external: ['react', 'react-devtools-core'],
    plugins: [
      {
        name: 'no-developer-tools',
        setup: (build) => build.onResolve({ filter: /\/devtools\.js$/ }, outside),
      },
    ],
    logLevel: 'warning',
  });
}

const outside = ({ path }) => ({ path, external: true });
