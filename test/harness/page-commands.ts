// The commands of the pages, and all that is known of playing them: which lines are commands, which are not played and why,
// which stay in the foreground, and which end with a status other than 0.
import { type Block, blocks, pages, prose } from './pages.ts';

export interface CommandLine {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

/** Commands of the package and other commands that its pages use. */
const BEGINS =
  /^(?:[A-Z_]+=\S+ )?(?:np[mx]|node|curl|proxy(?:d|adm|log|ncsa|stat|top|hist|-gather|-edge-setup)|edge-fake|varnish\w+|\.\S+|systemctl|nats\S*) /;

/** A block of commands for a shell. */
export function isCommands({ kind, lines }: Block): boolean {
  return kind === 'sh' || kind === 'bash' || (kind === 'indented' && BEGINS.test(`${lines[0]} `));
}

/** The commands of a page in their order; in the README those in code within a line, too. */
export function commandsOf(page: string): CommandLine[] {
  const found: CommandLine[] = [];
  for (const block of blocks(page).filter(isCommands)) {
    let text = '';
    let first = block.line;
    for (const [i, line] of block.lines.entries()) {
      if (text === '') first = block.line + i;
      text += line;
      if (text.endsWith('\\')) text = `${text.slice(0, -1)} `;
      else {
        if (text.trim() !== '' && !text.startsWith('#')) found.push({ page, line: first, text });
        text = '';
      }
    }
  }
  if (page === 'README.md') {
    for (const [i, line] of prose(page).split('\n').entries()) {
      for (const [, code = ''] of line.matchAll(/`((?:npx proxy|npm run )[^`]*)`/g))
        found.push({ page, line: i + 1, text: code });
    }
  }
  return found;
}

interface NotPlayed {
  readonly page: RegExp;
  readonly line: RegExp;
  readonly reason: string;
  /** The test that plays the same, if one does. */
  readonly test?: string;
}

const not = (page: RegExp, line: RegExp, reason: string, test?: string): NotPlayed => ({
  page,
  line,
  reason,
  ...(test === undefined ? {} : { test }),
});

const ANY = /./;

// biome-ignore format: a row is a line
export const NOT_PLAYED: readonly NotPlayed[] = [
  not(ANY, /^npm (ci|test)\b/, 'installs the dependencies, or is this suite itself; .ci/run does both'),
  not(ANY, /^npm run (build|check|bench|screenshots|test:\w+)\b/, 'a build, a tier of tests or a measurement'),
  not(ANY, /^(PROXYD_\w+=\S+ )*(npx vitest|npm (test|run test))\b/, 'the suite itself'),
  not(ANY, /^(PROXYD_\w+=\S+ )*(\.ci\/run|node test\/)/, 'the suite itself, or a measurement'),
  not(ANY, /^npm run demo( -- --fleet 3)?( |$)/, 'runs until q; its figures, its screen and its end are tested', 'demo.test.ts'),
  not(/^daemon\/README/, /systemd|systemctl|\/etc\//, 'changes the machine; the units are played in other places', 'units.test.ts'),
  not(/^console\/README/, /varnish/, 'needs a Varnish, here and over ssh', 'varnish.test.ts'),
  not(/^daemon\/tls\/AUTOMATIC/, ANY, 'needs an authority; played with one of this machine', 'acme.test.ts'),
  not(/^daemon\/tls\/LISTENERS/, ANY, 'needs certificates; played with some that are made', 'certificates.test.ts'),
  not(/^daemon\/net\/HTTP2/, /^(proxyd|curl) /, 'needs certificates, and the port of everybody'),
  not(/^daemon\/fleet\/OPERATING/, ANY, 'takes several machines; played with other places', 'fleet-operating.test.ts'),
  not(/^daemon\/fleet\/README/, /^(nats-server|proxyd|proxyadm) /, 'takes a bus and several nodes', 'fleet-operating.test.ts'),
  not(/^daemon\/fleet\/README/, /^nats /, 'needs the command nats, which Debian does not have; the same messages are sent', 'fleet.test.ts'),
];

/** Lines that stay in the foreground: the next line is for another terminal. */
export const FOREGROUND = /\bproxyd .*-F\b|^edge-fake /;

/** Lines that need a daemon, which the reader has by then. */
export const NEEDS_DAEMON = /\bproxy(adm|log|ncsa|stat|top|hist)\b|^curl /;

/** Statuses other than 0, with what they mean. */
export const STATUSES: readonly {
  readonly line: RegExp;
  readonly status: number;
  readonly reason: string;
}[] = [
  { line: /--lint daemon\/vcl\/examples\/querystring\.vcl/, status: 1, reason: 'the program has a warning' },
  { line: /--lint --release 9\.0 site\.vcl/, status: 1, reason: 'the program meets changes' },
  { line: /edge\.retry all/, status: 1, reason: 'there are no dead letters' },
];

/** Output that the text beside a command promises. */
export const SHOWS: readonly { readonly page: RegExp; readonly line: RegExp; readonly output: RegExp }[] = [
  { page: /^README/, line: /ban\.count/, output: /\d+ of \d+ objects match/ },
  { page: /^README/, line: /event\.list/, output: /worker +Child \(\d+\) started/ },
  { page: /^README/, line: /--lint (?!--release)/, output: /cookies-pass-everything/ },
  { page: /README/, line: /^curl -i .*a miss$/, output: /^X-Proxy-Id: \d+\r$/m },
  { page: /README/, line: /^curl -i .*a hit on/, output: /^X-Proxy-Id: \d+ \d+\r$/m },
  { page: /^README/, line: /proxylog -d/, output: /^$/ },
  {
    page: /^README/,
    line: /proxyncsa -d/,
    output: /^127\.0\.0\.1 GET http:\/\/127\.0\.0\.1:\d+\/ HTTP\/1\.1 200$/m,
  },
  { page: /^README/, line: /proxystat -1/, output: /^MAIN\.client_req +\d+/m },
  { page: /^README/, line: /proxytop -1/, output: /ReqURL +\// },
  { page: /^README/, line: /backend\.list/, output: /boot\.default/ },
  { page: /./, line: /-x builtin/, output: /sub vcl_builtin_recv|sub vcl_recv/ },
  { page: /./, line: /-x lint/, output: /cookies-pass-everything/ },
  { page: /./, line: /curl -X PURGE http:\/\/localhost/, output: /./ },
  { page: /^daemon\/README/, line: /ban\.count/, output: /\d+ of \d+ objects match/ },
  { page: /^daemon\/edge/, line: /curl -s/, output: /^X-Edge-Cache: (hit|miss|revalidated|pass)/im },
  { page: /^daemon\/edge/, line: /curl -X PURGE/, output: /"state":"queued"/ },
  { page: /^daemon\/edge/, line: /edge\.status/, output: /fake/ },
];

/** Pages with commands that are played, and their commands. */
export function playedCommands(): Map<string, CommandLine[]> {
  const played = new Map<string, CommandLine[]>();
  for (const page of pages()) {
    const lines = commandsOf(page).filter((each) => notPlayed(each) === undefined);
    if (lines.length > 0) played.set(page, lines);
  }
  return played;
}

export function notPlayed({ page, text }: CommandLine): NotPlayed | undefined {
  return NOT_PLAYED.find((row) => row.page.test(page) && row.line.test(text));
}
