// Bundles tsc's output and its libraries into the files of the package: one file each for the daemon, its worker and
// the processes that describe extensions and compile, because the daemon keeps all but the first in memory; one per
// command, since every further file costs a start a millisecond or two; one for the screens of the console; and one
// for the fleet's bus. So the installed code is the tested code, whatever the registry serves that day. Our own code
// is not minified beyond dead code: stack traces stay readable.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { tokens } from './plain-tokens.js';
import { PLAIN, STYLES } from './plain-width.js';

/** Processes of the daemon, by their modules. */
const DAEMON = [
  'daemon/proxyd',
  'daemon/extensions/load/describe-child',
  'daemon/manager/programs/compile-child',
  'daemon/extensions/author/test-main',
  'daemon/program-tests/try-child',
  'daemon/edge/fake/edge-fake',
];
/** The worker, whose threads run the same code: a script, unlike a module, can be run from a string
 * (worker/worker-threads.ts). */
const WORKER = 'daemon/worker/main';
/** Loaded by the daemon with --fleet: a separate file. */
const BUS = 'daemon/fleet/nats-bus';
/** Loaded by commands on a terminal: a separate file. */
const SCREENS = 'console/tui/main';
const DEFINE = {
  // The production reconciler and no developer tools; no native helpers that happen to be installed nearby.
  'process.env.NODE_ENV': '"production"',
  'process.env.DEV': '"false"',
  'process.env.WS_NO_BUFFER_UTIL': '"1"',
  'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
};

/** Commands are CommonJS, in a folder that says so: Node takes 15 ms less to start one. */
const COMMON = {
  format: 'cjs',
  define: { ...DEFINE, 'import.meta.url': '$url' },
  banner: { js: "const $url = require('node:url').pathToFileURL(__filename).href;" },
};

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
    define: DEFINE,
    banner: {
      js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire('/');",
    },
    external: ['react-devtools-core'],
    plugins: [leftOut, busApart, later, dense],
  };
  const entry = (name) => join(modules, `${name}.js`);
  const results = await Promise.all([
    ...[...DAEMON, BUS].map((name) => build({ ...options, entryPoints: [entry(name)] })),
    build({
      ...options,
      entryPoints: [entry(SCREENS)],
      plugins: [tokens, ...options.plugins, measured, cut],
    }),
    build({
      ...options,
      ...COMMON,
      // A function of its own: a script from standard input declares its names globally otherwise.
      banner: { js: `'use strict'; (() => { ${COMMON.banner.js}` },
      footer: { js: '})();' },
      entryPoints: [entry(WORKER)],
    }),
    ...commands.map((name) =>
      build({
        ...options,
        ...COMMON,
        entryPoints: [entry(name)],
        plugins: [...options.plugins, screensApart],
      }),
    ),
  ]);
  await Promise.all(
    results.flatMap(({ metafile }) =>
      Object.keys(metafile.outputs).map((file) => makeAscii(join(root, file))),
    ),
  );
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  return [...new Set(inputs.map(libraryOf).filter((name) => name !== null))].sort();
}

const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*).*$/gm;

/** Removes non-ASCII characters from comments; esbuild escapes them elsewhere. A single one doubles the size of the source
 * in V8 and takes Node's slow way of decoding it: 6 ms of CPU in each process. */
async function makeAscii(file) {
  const text = await readFile(file, 'utf8');
  const ascii = text.replace(COMMENT_LINE, (comment) => comment.replace(/[^\0-\x7f]/g, '?'));
  if (ascii !== text) await writeFile(file, ascii);
}

/** `node_modules/x/lib/y.js` is of `node_modules/x`. */
function libraryOf(input) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? null;
}

/** Imported by a library and unused here. */
const leftOut = {
  name: 'left-out',
  setup(build) {
    // Ink's developer tools.
    build.onResolve({ filter: /\/devtools\.js$/ }, ({ path }) => ({ path, external: true }));
    // The console draws one widget of blessed-contrib off-screen: of blessed it needs a box that emits events, and none of
    // its screens, programs and terminals.
    build.onResolve({ filter: /^blessed$/ }, ({ path }) => ({ path, namespace: 'left-out' }));
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: `const { EventEmitter } = require('node:events');
        function Box(options) { EventEmitter.call(this); this.options = options; }
        Box.prototype = Object.create(EventEmitter.prototype);
        exports.Node = exports.Box = Box;`,
    }));
  },
};

const busApart = {
  name: 'bus-apart',
  setup(build) {
    build.onResolve({ filter: /\/fleet\/nats-bus\.js$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './fleet/nats-bus.js', external: true } : undefined,
    );
  },
};

const screensApart = {
  name: 'screens-apart',
  setup(build) {
    build.onResolve({ filter: /\/tui\/main\.js$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** Parts of Node that a library imports on load, for features that commands and daemon seldom or never use. They take
 * as long to load as the rest of a command. */
const LATER = { ws: ['https', 'tls', 'zlib'], commander: ['node:child_process'] };

const later = {
  name: 'later',
  setup(build) {
    build.onResolve({ filter: /^(node:)?\w+$/ }, ({ path, importer }) => {
      const library = libraryOf(importer)?.split('/').at(-1);
      return LATER[library]?.includes(path) ? { path, namespace: 'later' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get: (_, name) => require('${path}')[name] });`,
    }));
  },
};

/** The library that measures text, where libraries of the screens ask for it: loaded, with all it knows of emoji and scripts, by
 * the first text that is not plain. That is a tenth of a console's start. */
const measured = {
  name: 'measured',
  setup(build) {
    build.onResolve({ filter: /^string-width$/ }, ({ namespace }) =>
      namespace === 'measured' ? undefined : { path: 'string-width', namespace: 'measured' },
    );
    build.onLoad({ filter: /.*/, namespace: 'measured' }, () => ({
      contents: `let whole;
        export default function stringWidth(text, options) {
          const isUsual = options?.ambiguousIsNarrow !== false && !options?.countAnsiEscapeCodes;
          if (isUsual && typeof text === 'string') {
            const bare = text.includes('\\x1b') ? text.replace(${STYLES}, '') : text;
            if (${PLAIN}.test(bare)) return bare.length;
          }
          whole ??= require('string-width').default;
          return whole(text, options);
        }`,
      resolveDir: import.meta.dirname,
    }));
  },
};

/** The same for the library that cuts text: it splits each line into clusters, also where nothing is cut off. */
const cut = {
  name: 'cut',
  setup(build) {
    build.onResolve({ filter: /^slice-ansi$/ }, ({ namespace, resolveDir }) =>
      namespace === 'cut' ? undefined : { path: 'slice-ansi', namespace: 'cut', pluginData: resolveDir },
    );
    build.onLoad({ filter: /.*/, namespace: 'cut' }, ({ pluginData }) => ({
      contents: `import whole from 'slice-ansi';
        export default function sliceAnsi(text, start, end) {
          const styled = text.includes('\\x1b');
          const bare = styled ? text.replace(${STYLES}, '') : text;
          if (${PLAIN}.test(bare)) {
            if (start === 0 && end >= bare.length) return text;
            if (!styled && start >= 0 && !(end < start)) return text.slice(start, end);
          }
          return whole(text, start, end);
        }`,
      resolveDir: pluginData,
    }));
  },
};

/** The layout of the screens unpacks its code, which is text in its file, by fetch() where there is one: Node would load all of its
 * HTTP client for that, 40 ms of every start of a console. Without one it decodes the text itself. */
const WITHOUT_FETCH = 'yoga-layout';

/** Libraries without blanks and comments, which a start would read. */
const dense = {
  name: 'dense',
  setup(build) {
    build.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/, namespace: 'file' }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), {
        minifyWhitespace: true,
        legalComments: 'none',
        ...(libraryOf(path)?.endsWith(WITHOUT_FETCH) ? { define: { fetch: 'undefined' } } : {}),
      });
      return { contents: code };
    });
  },
};
