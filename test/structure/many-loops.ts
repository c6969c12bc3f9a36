// Loops of the daemon over what there can be very many of: objects, bans, backends, keys, waiters and their like, by the
// names that collections have here. Each is listed with the reason why one turn of the event loop can have it; a new one
// asks for its turns (daemon/turns) or needs a reason as good.

/** Names of such collections. */
const MANY =
  /^(?:bans|backends|certificates|directors|entries|held|invalidations|jobs|keys|letters|members|objects|objheads|ocs|parked|pending|queue|ready|segments|sessions|slices|streams|tags|tickets|variants|waiters|waiting|window)$/;

const WALKS =
  'map|filter|forEach|some|every|reduce|flatMap|find|findIndex|toSorted|sort|indexOf|includes|splice|each';
const VALUES = '(?:\\.(?:values|keys|entries|all)\\(\\))?';
const PATTERNS = [
  new RegExp(`for \\((?:const|let) [^;=]*? of (?:\\[\\.\\.\\.)?([\\w.#?!]+?)${VALUES}\\]?\\)`, 'g'),
  new RegExp(`([\\w.#?!]+?)${VALUES}\\]?\\??\\.(?:${WALKS})\\(`, 'g'),
  new RegExp(`\\[\\.\\.\\.([\\w.#]+?)${VALUES}[,\\]]`, 'g'),
  /for \(let [^;]*; [^;]*?([\w#]+)\.(?:length|size)\b/g,
];
const COMMENT = /^\s*(?:\/\/|\*|\/\*).*$/gm;

/** Names of the collections that a module loops over. */
export function loopsOf(text: string): string[] {
  const code = text.replaceAll(COMMENT, '');
  const names = PATTERNS.flatMap((pattern) =>
    [...code.matchAll(pattern)].map(
      ([, path = '']) => path.split(/[.?!]+/).findLast((word) => word !== '') ?? '',
    ),
  );
  return [
    ...new Set(names.map((name) => name.replace(/^#|_$/g, '')).filter((name) => MANY.test(name))),
  ].sort();
}

/** Reasons, and the loops that have them: "file name". */
export const REASONS: Readonly<Record<string, readonly string[]>> = {
  'asks for its turns, or is walked by what does': [
    'daemon/cache/ban/ban.ts bans',
    'daemon/commands/edge-commands.ts entries',
    'daemon/disk/disk-segment.ts entries',
    'daemon/disk/disk-segments.ts entries',
    'daemon/edge/queue/purge-queue.ts entries',
    'daemon/turns/turns.ts queue',
    'daemon/worker/program-entry.ts backends',
    'daemon/worker/program-entry.ts directors',
  ],
  'has a budget of its own for each turn': [
    'daemon/backend/piece-pacer.ts held',
    'daemon/cache/ban/ban-tester.ts queue',
    'daemon/flow/byte-turns.ts queue',
  ],
  'a share of them a turn': [
    'daemon/stats/counter-relay.ts backends',
    'daemon/stats/counters-file.ts backends',
    'daemon/stats/counters-layout.ts backends',
  ],
  'once for many that came or went': [
    'daemon/cache/waiting-list.ts parked',
    'daemon/extensions/directors/healthy-members.ts members',
    'daemon/extensions/directors/member-director.ts members',
    'daemon/extensions/saintmode/saint.ts entries',
  ],
  'the words of one message, header or command': [
    'daemon/cache/object-filling.ts keys',
    'daemon/cache/tags/purge-log.ts keys',
    'daemon/cache/tags/tag-purges.ts keys',
    'daemon/cache/tags/tag-purges.ts tags',
    'daemon/commands/read-command.ts letters',
    'daemon/edge/cache-tags.ts tags',
    'daemon/edge/connector.ts tags',
    'daemon/edge/queue/sender.ts entries',
    'daemon/http1/framing.ts members',
    'daemon/http1/message.ts keys',
  ],
  'the method of a table, which looks up one': [
    'daemon/cache/object-invalidation.ts objheads',
    'daemon/cache/object-lookup.ts objheads',
    'daemon/cache/tags/tag-index.ts keys',
    'daemon/cache/transfers.ts ocs',
  ],
  'as many as the text of a program has, and its compiler is a process of its own': [
    'daemon/vcl/check/acls.ts entries',
    'daemon/vcl/codegen/expressions.ts keys',
    'daemon/extensions/declared-backend.ts backends',
    'daemon/vcl/compile.ts backends',
    'daemon/vcl/lint/rules/access.ts entries',
    'daemon/vcl/loader.ts backends',
    'daemon/vcl/runtime/builtin-actions.ts objects',
  ],
  'programs, directors and labels that operators have loaded': [
    'daemon/manager/programs/program-graph.ts entries',
    'daemon/manager/programs/program-list.ts entries',
    'daemon/manager/programs/programs.ts entries',
    'daemon/worker/program-table.ts backends',
    'daemon/worker/program-table.ts directors',
  ],
  'commands, nodes or connections of operators, of which there are not many': [
    'daemon/manager/endpoints/control-connection.ts held',
    'daemon/manager/endpoints/control-connection.ts streams',
    'daemon/manager/endpoints/listener.ts pending',
    'daemon/manager/process/supervisor.ts waiters',
    'daemon/manager/process/worker-output.ts streams',
    'daemon/manager/process/worker-process.ts pending',
    'daemon/syslog.ts waiting',
    'daemon/throttle/slots.ts held',
  ],
  'those of one connection, one entry or one second': [
    'daemon/backend/run-time-backends.ts entries',
    'daemon/extensions/dynamic/domain.ts backends',
    'daemon/extensions/dynamic/dynamic-director.ts members',
    'daemon/extensions/dynamic/follow-name.ts members',
    'daemon/edge/queue/purge-queue.ts waiting',
    'daemon/extensions/saintmode/saintmode-events.ts objects',
    'daemon/net/client-handle.ts waiting',
    'daemon/net/handover.ts queue',
    'daemon/net/tls-handle.ts queue',
    'daemon/net/tls-handle.ts waiting',
    'daemon/tls/session-tickets.ts keys',
    'daemon/tls/session-tickets.ts tickets',
  ],
  'tens of nanoseconds each, four times a second': [
    'daemon/worker/drain.ts sessions',
    'daemon/worker/worker.ts sessions',
  ],
  'an object on disk is compared with a hundred bans, and has 32 variants and the words of its head': [
    'daemon/cache/object-tier.ts bans',
    'daemon/cache/object-tier.ts tags',
    'daemon/disk/disk-tier.ts bans',
    'daemon/disk/disk-reader.ts entries',
    'daemon/disk/invalidations.ts tags',
  ],
  'a hundred thousand at the most, some nanoseconds each, once for as many that came': [
    'daemon/disk/disk-journal.ts invalidations',
    'daemon/disk/invalidations.ts bans',
    'daemon/disk/invalidations.ts window',
  ],
  'segments of a gigabyte: a thousand of them are a terabyte': [
    'daemon/disk/disk-check.ts segments',
    'daemon/disk/disk-store.ts segments',
  ],
  'a thousand at the most, which operators have loaded': [
    'daemon/manager/tls/certificate-expiry.ts certificates',
    'daemon/manager/tls/certificate-store.ts certificates',
    'daemon/manager/tls/frontend-plan.ts certificates',
    'daemon/manager/tls/tls-file.ts certificates',
    'daemon/manager/tls/tls-service.ts certificates',
    'daemon/tls/server-contexts.ts certificates',
  ],
  'as many as h2_max_concurrent_streams allows a connection': [
    'daemon/net/http2/http2-connection.ts streams',
    'daemon/net/http2/http2-streams.ts streams',
  ],
  'the tests of authors, and the network to try things with': [
    'daemon/edge/fake/edge-cache.ts variants',
    'daemon/edge/fake/edge-fake.ts objects',
    'daemon/edge/fake/purge-api.ts objects',
    'daemon/edge/fake/purge-api.ts tags',
    'daemon/extensions/author/run-tests.ts backends',
    'daemon/program-tests/compare-programs.ts backends',
    'daemon/program-tests/tests-of-program.ts backends',
  ],
};
