// Texts of the demo, for readers new to caches: the first lines, the panel over the first screen, and commands to try
// afterwards. They assume no knowledge of the terms.

import type { ToneLine } from '../model/ui/panel.ts';

/** The demo's processes, as named in texts. */
export interface DemoPlace {
  /** Addresses of the proxies. */
  readonly proxies: readonly string[];
  /** Address of the edge network; null in a fleet. */
  readonly edge: string | null;
  /** Working directory of the first proxy. */
  readonly dir: string;
}

export interface NextStep {
  readonly purpose: string;
  readonly command: string;
}

/** Below the panel until the first key; at most 78 cells. */
export const FIRST_KEYS = 'Enter: begin   2: requests   #: why they missed   ?: all keys   q: quit';

const KEYS: readonly (readonly [string, string])[] = [
  ['2', 'all requests as they arrive; w explains why a request missed'],
  ['#', 'the reasons of all misses, as a ranking'],
  ['4', 'the servers behind the cache, their health and speed'],
  ['$', 'events: failures, purges, reloads'],
];
const FLEET_KEY = ['^', 'the proxies of the fleet, and the progress of each purge'] as const;
const LAST_KEYS: readonly (readonly [string, string])[] = [
  ['?', 'all keys'],
  ['q', 'quit, and stop everything that the demo started'],
];

/** The first lines, at most 80 cells each apart from addresses. */
export function firstLines({ proxies, edge, dir }: DemoPlace): string {
  const [first = ''] = proxies;
  const where =
    edge === null
      ? [
          'This is a demo: proxyd, a web cache, runs in front of a small simulated shop.',
          `${proxies.length} proxies of one fleet: ${proxies.join(', ')}`,
        ]
      : [
          'This is a demo: proxyd, a web cache, runs in front of a small simulated shop.',
          `The cache: ${first}`,
          `A simulated edge network (CDN) in front of the cache: ${edge}`,
        ];
  return [...where, `Files of the cache: ${dir}`].join('\n');
}

/** Additional lines for the demo without a console. */
export function plainLines({ dir }: DemoPlace): string {
  return [
    'Each line is a second of traffic. Hit rate: the share of requests answered',
    'from the cache, without asking the shop. Failures and purges are named.',
    `For the console, in another terminal: npx proxyadm -n ${dir}`,
  ].join('\n');
}

export const WELCOME_TITLE = 'Welcome to the demo of proxyd';

/** The panel over the first screen. */
export function welcomePanel(isFleet: boolean): readonly ToneLine[] {
  const keys = [...KEYS, ...(isFleet ? [FLEET_KEY] : []), ...LAST_KEYS];
  return [
    [
      { text: 'A running web cache: it keeps copies of the pages of a small shop. A ' },
      { text: 'hit', tone: 'good' },
      { text: ' is answered from a copy, for a ' },
      { text: 'miss', tone: 'warn' },
      { text: ' the shop has to be asked, and a ' },
      { text: 'pass', tone: 'accent' },
      { text: ' is never kept.' },
    ],
    [],
    [
      {
        text: 'All visitors are simulated. Soon an image server fails, a release is removed from the cache, a newsletter brings a crowd, and the shop becomes slow.',
      },
    ],
    [],
    ...keys.map(([key, text]): ToneLine => [{ text: `  ${key}  `, tone: 'strong' }, { text }]),
    [],
    [{ text: 'Press Enter to begin, or one of these keys.', tone: 'strong' }],
  ];
}

/**
 * Commands that work as printed, in the package's folder.
 * @param hasBus whether a fleet can run on this machine
 */
export function nextSteps(hasBus: boolean): readonly NextStep[] {
  return [
    {
      purpose: 'A cache on port 8080 for your own web server on port 80 (Ctrl-C stops it)',
      command: 'npx proxyd -F -a 127.0.0.1:8080 -b 127.0.0.1:80',
    },
    { purpose: 'In another terminal: this console, on that cache', command: 'npx proxyadm' },
    hasBus
      ? {
          purpose: 'Three caches: a page that is purged from one is purged from all',
          command: 'npm run demo -- --fleet 3',
        }
      : {
          purpose: 'A cache program, checked for mistakes',
          command: 'npx proxyd --lint daemon/vcl/examples/querystring.vcl',
        },
  ];
}

export function lastLines(steps: readonly NextStep[]): string {
  const lines = steps.map(({ purpose, command }) => `  # ${purpose}\n  ${command}`);
  return ['\nEverything that the demo started is stopped. To try next, in this folder:', ...lines].join(
    '\n\n',
  );
}
