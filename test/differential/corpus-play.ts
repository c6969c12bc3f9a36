// Reads the .play file of a corpus program: what its origin answers and what its clients ask, line by line.
// It plays nothing. Lines:
//   origin URL [how …]: STATUS REASON | Field: value | … => body
//       several lines of one URL are its answers in turn, the last for ever; URL * is any other.
//       how: wait=MS, gzip, chunked, reset, cut, conditional (a 304 when If-None-Match is the answer's ETag)
//   METHOD URL | Field: value | … => body      a request; Host is PROGRAM.test unless a field names one
//   connect                                    the next request comes on a new connection
//   sleep MS                                   time for lives to end
//   before COMMAND, adm COMMAND                an admin command before the program is loaded, or at this point
import { gzipSync } from 'node:zlib';
import {
  type OriginRequest,
  type Reply,
  type ReplyMaker,
  respond,
  respondChunked,
} from '../harness/origin.ts';

export interface PlayRequest {
  kind: 'request';
  method: string;
  url: string;
  /** Field lines in order, Host first. */
  fields: [string, string][];
  body: string | null;
}

export type PlayStep =
  | PlayRequest
  | { kind: 'connect' }
  | { kind: 'sleep'; ms: number }
  | { kind: 'adm'; command: string };

export interface Play {
  before: string[];
  replies: Map<string, ReplyMaker>;
  steps: PlayStep[];
}

interface Answer {
  how: string[];
  status: string;
  fields: [string, string][];
  body: string;
}

/** The play of a text; throws on a line it cannot read. */
export function parsePlay(text: string, host: string): Play {
  const play: Play = { before: [], replies: new Map(), steps: [] };
  const answers = new Map<string, Answer[]>();
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '' || line.startsWith('#')) return;
    const [, word = '', rest = ''] = /^(\S+)(?: (.*))?$/.exec(line) ?? [];
    if (word === 'origin') {
      const [, url = '', how = '', what] = /^(\S+?)((?: [\w=]+)*): (.*)$/.exec(rest) ?? [];
      if (what === undefined) throw new Error(`line ${i + 1}: no answer in ${JSON.stringify(line)}`);
      const { start, fields, body } = message(what);
      const answer = { how: how.trim().split(' '), status: start, fields, body: body ?? `page ${url}\n` };
      answers.set(url, [...(answers.get(url) ?? []), answer]);
    } else if (word === 'connect') play.steps.push({ kind: 'connect' });
    else if (word === 'sleep') play.steps.push({ kind: 'sleep', ms: Number(rest) });
    else if (word === 'adm') play.steps.push({ kind: 'adm', command: rest });
    else if (word === 'before') play.before.push(rest);
    else {
      const { start, fields, body } = message(rest);
      const own = fields.some(([name]) => name.toLowerCase() === 'host');
      const all: [string, string][] = own ? fields : [['Host', host], ...fields];
      play.steps.push({ kind: 'request', method: word, url: start, fields: all, body });
    }
  });
  for (const [url, list] of answers) {
    play.replies.set(url, (request, n) => replyOf(list[Math.min(n, list.length) - 1] as Answer, request));
  }
  return play;
}

function message(text: string): { start: string; fields: [string, string][]; body: string | null } {
  const at = text.indexOf(' => ');
  const body =
    at < 0
      ? null
      : text
          .slice(at + 4)
          .replaceAll('\\n', '\n')
          .replaceAll('\\r', '\r');
  const [start = '', ...lines] = (at < 0 ? text : text.slice(0, at)).split(' | ');
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { start: start.trim(), fields, body };
}

function replyOf(answer: Answer, request: OriginRequest): Reply {
  const { how, status, fields } = answer;
  const named = Object.fromEntries(fields);
  const wait = Number(how.find((h) => h.startsWith('wait='))?.slice(5) ?? 0);
  const pause: Reply = wait > 0 ? [{ wait }] : [];
  if (how.includes('reset')) return [...pause, { reset: true }];
  const asked = /^if-none-match: (.*)$/im.exec(request.head)?.[1]?.trim();
  if (how.includes('conditional') && asked !== undefined && asked === named.ETag) {
    return [...pause, ...respond('304 Not Modified', named)];
  }
  const body = how.includes('gzip') ? gzipSync(answer.body) : Buffer.from(answer.body, 'latin1');
  const all = how.includes('gzip') ? { ...named, 'Content-Encoding': 'gzip' } : named;
  if (how.includes('cut')) {
    return [...pause, ...respond(status, { ...all, 'Content-Length': '5000' }, body), { close: true }];
  }
  if (request.method === 'HEAD') {
    return [...pause, ...respond(status, { ...all, 'Content-Length': String(body.length) }, '')];
  }
  if (how.includes('chunked')) return [...pause, ...respondChunked(status, all, [body], 0)];
  return [...pause, ...respond(status, all, body)];
}
