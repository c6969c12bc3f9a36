// Packs what tsc has compiled, and the libraries it uses, into the files that the package holds: the daemon, its worker
// and the process that describes extensions one file each, because the daemon keeps the last two in memory; the commands
// a file each beside what they share. So what is installed is what was tested, whatever the registry offers that day,
// and a command starts in half the time. Nothing is minified beyond dead code: stack traces stay readable.

import { join } from 'node:path';
import { build } from 'esbuild';

/** Processes of the daemon, by their modules. */
const DAEMON = ['daemon/proxyd', 'daemon/worker/main', 'daemon/extensions/load/describe-child'];

/**
 * @param root folder of package.json
 * @param commands modules of the console's commands, as `console/bin/proxyadm`
 * @returns names of the libraries that are inside, each a folder of node_modules
 */
export async function bundle(root, commands) {
  const modules = join(root, 'dist/modules');
  const options = {
    absWorkingDir: root,
    outdir: join(root, 'dist'),
    outbase: modules,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    define: {
      // The production reconciler and no developer tools; no native helpers that happen to be installed nearby.
      'process.env.NODE_ENV': '"production"',
      'process.env.DEV': '"false"',
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
    },
    banner: {
      js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire('/');",
    },
    external: ['react-devtools-core'],
    plugins: [leftOut],
  };
  const entry = (name) => join(modules, `${name}.js`);
  const results = await Promise.all([
    ...DAEMON.map((name) => build({ ...options, entryPoints: [entry(name)] })),
    build({
      ...options,
      entryPoints: commands.map(entry),
      splitting: true,
      chunkNames: 'console/shared/[name]-[hash]',
    }),
  ]);
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  return [...new Set(inputs.map(libraryOf).filter((name) => name !== null))].sort();
}

/** `node_modules/x/lib/y.js` is of `node_modules/x`. */
function libraryOf(input) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? null;
}

/** What a library asks for and nothing here uses. */
const leftOut = {
  name: 'left-out',
  setup(build) {
    // Ink's developer tools.
    build.onResolve({ filter: /\/devtools\.js$/ }, ({ path }) => ({ path, external: true }));
    // The charts draw with the methods of two widgets and never make one. What those inherit of blessed would bring
    // its screens, its programs and its terminals along.
    build.onResolve({ filter: /^blessed$/ }, ({ path }) => ({ path, namespace: 'left-out' }));
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'exports.Node = class {}; exports.Box = class {};',
    }));
  },
};
