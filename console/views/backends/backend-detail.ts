// What is to say about one backend or director: its address, what its probe was answered, its members, its counters.

import { textField } from '../../model/admin-store.ts';
import { type BackendRow, record, shortName } from '../../model/backends.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { bytes, duration, rate } from '../../model/numbers.ts';
import type { ToneLine } from '../../model/panel.ts';
import { answerWords, type ProbeAnswer } from '../../model/probe-answers.ts';

/** Polls that a pane has room for. */
const BITS = 48;

/** Varnish's names of the probe's bitmaps, oldest step first. */
const PROBE_BITS: readonly [string, string][] = [
  ['bits_4', 'connected by IPv4'],
  ['bits_6', 'connected by IPv6'],
  ['bits_U', 'connected by Unix socket'],
  ['bits_x', 'failed to send'],
  ['bits_X', 'sent'],
  ['bits_r', 'failed to receive'],
  ['bits_R', 'received'],
  ['bits_H', 'good'],
];

export function backendDetail(
  session: DaemonSession,
  b: BackendRow,
  answer: ProbeAnswer | undefined,
  happy: bigint,
): readonly ToneLine[] {
  return [
    ...(b.type === 'backend' ? addressLines(session, b) : memberLines(b)),
    ...(b.type === 'backend' ? probeLines(b, answer, happy) : []),
    ...counterLines(session, b.name),
  ];
}

function addressLines(session: DaemonSession, { name }: BackendRow): ToneLine[] {
  const address = session.sample.addressOf(shortName(name));
  return address === '' ? [] : [labelled('Address', `${address} (of the last connection seen)`)];
}

function memberLines({ type, members, details }: BackendRow): ToneLine[] {
  const lines: ToneLine[] = [
    labelled(
      'Director',
      members === null
        ? `${type}, which says nothing of its members`
        : `${type}, ${members.healthy} of ${members.all} members healthy`,
    ),
  ];
  for (const [name, value] of Object.entries(record(details.backends))) {
    const { health, ...more } = record(value);
    const facts = Object.entries(more).map(([fact, of]) => `${fact} ${of}`);
    lines.push([
      { text: `  ${name}`, tone: 'strong' },
      { text: `  ${health}`, tone: health === 'sick' ? 'bad' : 'good' },
      { text: facts.length === 0 ? '' : `  ${facts.join(', ')}`, tone: 'muted' },
    ]);
  }
  return lines;
}

function probeLines(b: BackendRow, answer: ProbeAnswer | undefined, happy: bigint): ToneLine[] {
  if (b.probe === null)
    return [[{ text: 'No probe: healthy unless it is declared sick or its directors say otherwise.' }]];
  const { good, window } = b.probe;
  const threshold = textField(b.details, 'threshold');
  const needed = threshold === '' ? '' : `, ${threshold} needed`;
  const lines: ToneLine[] = [labelled('Probe', `${good} of the last ${window} good${needed}`)];
  if (answer !== undefined && answer.text !== '') {
    const took = answer.seconds > 0 ? ` after ${duration(answer.seconds)}` : '';
    lines.push(labelled('Answer', `${answerWords(answer.text)}${took}: ${answer.text}`));
  }
  lines.push([
    { text: 'Newest'.padEnd(LABEL), tone: 'muted' },
    { text: '', bits: { value: happy, count: BITS } },
  ]);
  const steps = PROBE_BITS.flatMap(([field, words]) => {
    const n = ones(textField(b.details, field), window);
    return n === 0 ? [] : [`${words} ${n}`];
  });
  if (steps.length > 0) lines.push(labelled('Steps', `${steps.join(' · ')} (of ${window} probes)`));
  return lines;
}

function counterLines(session: DaemonSession, name: string): ToneLine[] {
  const lines: ToneLine[] = [];
  for (const counter of session.counters.all()) {
    if (!counter.info.name.startsWith(`VBE.${name}.`) || counter.current === 0n || counter.info.flag === 'b')
      continue;
    const value = counter.info.format === 'B' ? bytes(Number(counter.current)) : String(counter.current);
    lines.push([
      { text: counter.info.name.slice(`VBE.${name}.`.length).padEnd(18), tone: 'muted' },
      { text: value.padStart(12) },
      { text: counter.change === 0 ? '' : `  ${rate(counter.change)}/s`, tone: 'accent' },
      { text: `  ${counter.info.description}`, tone: 'faint' },
    ]);
  }
  return lines;
}

const LABEL = 9;

function labelled(label: string, text: string): ToneLine {
  return [{ text: label.padEnd(LABEL), tone: 'muted' }, { text }];
}

/** How many of the newest `window` bits are set. */
function ones(bits: string, window: number): number {
  if (!/^\d+$/.test(bits)) return 0;
  const newest = BigInt(bits) & ((1n << BigInt(window)) - 1n);
  return [...newest.toString(2)].filter((b) => b === '1').length;
}
