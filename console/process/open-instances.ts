// The instances that a console shows: its target and those of the operator's file, or a recording. Combines sources,
// sessions and the real clock.

import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { systemText } from '../../protocol/system-text.ts';
import { compileQuery } from '../../queries/compile-query.ts';
import { parseQuery } from '../../queries/parse-query.ts';
import { Effort } from '../../queries/text-pattern.ts';
import { LiveSource } from '../client/live-source.ts';
import type { Source } from '../client/source.ts';
import { parseVarnishTarget } from '../client/varnish-target.ts';
import type { GroupMatcher } from '../model/log/request-group.ts';
import { DaemonSession } from '../model/session/daemon-session.ts';
import { type Instance, Instances } from '../model/session/instances.ts';
import { logRecording } from '../model/session/log-recording.ts';
import { groupsOfFile, groupsOfLines } from '../model/session/recorded-log.ts';
import { RecordingSource } from '../model/session/recorder.ts';
import { parseRecording, type Recording } from '../model/session/recording.ts';
import { ReplayPlayer } from '../model/session/replay-player.ts';
import type { ConsoleConfig } from '../model/ui/config.ts';
import { VarnishSource } from '../varnish/varnish-source.ts';

/** Maximum bytes of a recording: it is kept in memory. */
const MOST_BYTES = 512 << 20;

const now = (): number => Date.now() / 1000;
const later = (fn: () => void, ms: number): void => {
  setTimeout(fn, ms).unref();
};

/** A daemon: its working directory as in -n, or `address` (host:port) with `secretFile`; or a Varnish. */
export interface ConsoleTarget {
  dir?: string | undefined;
  address?: string | undefined;
  secretFile?: string | undefined;
  /** In the syntax of parseVarnishTarget(). */
  varnish?: string | undefined;
}

/** The initial target: from the command line, else the first of the operator's instances, else the local daemon. */
export function firstTarget(options: ConsoleTarget, { instances }: ConsoleConfig): ConsoleTarget {
  const { dir, address, secretFile, varnish } = options;
  const named = [dir, address, secretFile, varnish].some((value) => value !== undefined);
  return named ? { dir, address, secretFile, varnish } : (instances[0] ?? {});
}

export interface OpenInstances {
  instances: Instances;
  /** Null without a recording. */
  player: ReplayPlayer | null;
  /** The initial target. */
  target: ConsoleTarget;
}

/** Opens the instances of a console. Throws a plain sentence for an invalid recording. */
export function openInstances(
  options: ConsoleTarget & { replay?: string | undefined; readonly?: boolean | undefined },
  config: ConsoleConfig,
): OpenInstances {
  const target = firstTarget(options, config);
  if (options.replay !== undefined) return { ...replayInstances(options.replay, config), target };
  return { instances: liveInstances(target, config, options.readonly), player: null, target };
}

/** Instances on live daemons, `target` first. */
export function liveInstances(target: ConsoleTarget, config: ConsoleConfig, readonly = false): Instances {
  const recorders = new Map<Source, RecordingSource>();
  const open = ({ dir, address, secretFile, varnish }: ConsoleTarget): Source => {
    const live =
      varnish === undefined
        ? new LiveSource({ dir, address, secretFile, name: 'console', readonly })
        : new VarnishSource(parseVarnishTarget(varnish), readonly);
    const source = new RecordingSource(live, now);
    recorders.set(source, source);
    return source;
  };
  const known = config.instances.map((i): Instance => ({ name: i.name, open: () => open(i) }));
  const named = config.instances.find((i) => isSame(i, target));
  const otherwise = target.varnish === undefined ? 'daemon' : 'varnish';
  const first: Instance = { name: named?.name ?? otherwise, open: () => open(target) };
  const instances = new Instances(
    first,
    known.filter((i) => i.name !== first.name),
    (source) => new DaemonSession({ source, now, later, matcher, utc: config.utc }),
  );
  instances.meet = (name, address) => {
    const secretFile = config.instances.find((i) => i.address === address)?.secretFile ?? target.secretFile;
    if (secretFile === undefined)
      return 'name it among the instances of the configuration file, or start with -T and -S';
    instances.add({ name, open: () => open({ address, secretFile }) });
    return '';
  };
  let path = '';
  instances.recording = () => [...recorders.values()].some((r) => r.active);
  instances.record = async (wanted) => {
    const recorder = [...recorders.values()].find((r) => r.active) ?? recorders.get(instances.current.source);
    if (recorder === undefined) throw new Error('this view cannot be recorded; choose one instance');
    if (!recorder.active) {
      if (wanted === '') throw new Error('record needs a file');
      path = wanted;
      recorder.begin();
      return `recording; :record again ends it and writes ${path}`;
    }
    const { seconds, full } = recorder.progress;
    writeRecording(path, JSON.stringify(recorder.end()));
    return `${Math.round(seconds)} s written to ${path}${full ? '; the log reached its size limit' : ''}`;
  };
  return instances;
}

function isSame(a: ConsoleTarget, b: ConsoleTarget): boolean {
  if (b.varnish !== undefined) return a.varnish === b.varnish;
  return b.address === undefined ? b.dir !== undefined && a.dir === b.dir : a.address === b.address;
}

/** A recording in place of a daemon. */
function replayInstances(
  path: string,
  config: ConsoleConfig,
): { instances: Instances; player: ReplayPlayer } {
  const recording = openRecording(path);
  const makeSession = (source: Source): DaemonSession =>
    new DaemonSession({ source, now: () => player.now(), later, matcher, utc: config.utc });
  const player: ReplayPlayer = new ReplayPlayer({ recording, matcher, label: path, makeSession });
  const instances = new Instances({ name: 'recording', open: () => player.first }, [], makeSession);
  player.attach(instances);
  return { instances, player };
}

/** The real query language, on recorded groups. */
const matcher: GroupMatcher = (query) => {
  const effort = Effort.shared();
  const parsed = parseQuery(query, { effort });
  if (!parsed.ok) return () => false;
  const match = compileQuery(parsed.query);
  return (group) => {
    effort.renew();
    return match(group) && !effort.spent;
  };
};

/** A session recorded by the console, or a log written by proxylog: -w or --json, compressed or not. */
function openRecording(path: string): Recording {
  let bytes: Buffer;
  let end: number;
  try {
    const { size, mtimeMs } = statSync(path);
    if (size > MOST_BYTES)
      throw new Error(`larger than ${MOST_BYTES >> 20} MB; proxylog -r with -q and -w makes a smaller one`);
    end = mtimeMs / 1000;
    bytes = readFileSync(path);
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = gunzipSync(bytes);
    const file = groupsOfFile(bytes);
    if (file !== null) return logRecording(file, basename(path), end);
    const text = bytes.toString();
    const lines = text.startsWith('{"format"') ? null : groupsOfLines(text);
    return lines === null ? parseRecording(text) : logRecording(lines, basename(path), end);
  } catch (cause) {
    throw new Error(`${path}: ${systemText(cause)}`, { cause });
  }
}

function writeRecording(path: string, text: string): void {
  try {
    writeOwn(path, path.endsWith('.gz') ? gzipSync(text) : text, 0o600);
  } catch (cause) {
    throw new Error(`${path}: ${systemText(cause)}`, { cause });
  }
}
