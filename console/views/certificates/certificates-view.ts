// Certificates of TLS listeners: names, days left, who presents them; and in the title what becomes of handshakes.

import { answerItems, textField } from '../../model/session/admin-store.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { clock, count, percent, rate } from '../../model/ui/numbers.ts';
import type { Tone, ToneLine } from '../../model/ui/panel.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';

const LIST = 'tls.cert.list -j';
/** Certificates that renew themselves; none without --acme. */
const AUTOMATIC = 'tls.acme.list -j';

/** Days left from which on a certificate is a warning, as in the daemon's events. */
const SOON = 14;

const TONES: Readonly<Record<string, Tone>> = { active: 'good', staged: 'accent', discarded: 'muted' };

export const CERTIFICATES_VIEW: ListView = listView({
  name: 'certificates',
  key: '(',
  title: 'Certificates',
  short: 'Certificates',
  brief: 'Crt',
  asks: [
    { line: LIST, every: 5 },
    { line: AUTOMATIC, every: 5 },
  ],
  applies: (session) => session.counters.get('TLS.handshakes') !== undefined,
  columns: [
    { title: 'ID', min: 6 },
    { title: 'STATUS', min: 9, drop: 2 },
    { title: 'DAYS LEFT', min: 9, right: true },
    { title: 'NAMES', min: 20, grow: 3 },
    { title: 'USED BY', min: 10, drop: 1 },
    { title: 'ISSUER', min: 10, grow: 2, drop: 3 },
  ],
  rows: (session) => [
    ...items(session, AUTOMATIC).flatMap((item) => pending(session, item)),
    ...items(session, LIST).map((item) => row(session, item)),
  ],
  remark,
  empty: (session) => {
    if (session.connection.state !== 'up') return 'no connection';
    return 'no certificates: TLS listeners refuse all clients; load one with tls.cert.load';
  },
  keys: [
    {
      keys: ['i'],
      command: 'certificates.reload',
      gives: 'tls.cert.reload',
      help: 'Reload all certificates from disk',
      hint: 'reload',
      run: (c) => c.operator.submit('tls.cert.reload'),
    },
    {
      keys: ['m'],
      command: 'certificates.commit',
      gives: 'tls.cert.commit',
      help: 'Activate the staged changes',
      hint: 'commit',
      run: (c) => c.operator.submit('tls.cert.commit'),
    },
    {
      keys: ['delete', 'ctrl+d'],
      command: 'certificates.discard',
      gives: 'tls.cert.discard',
      help: 'Stage its removal',
      act: (c, { key }) => c.operator.submit(`tls.cert.discard ${key.slice(key.indexOf(' ') + 1)}`),
      line: ({ key }) => `tls.cert.discard ${key.slice(key.indexOf(' ') + 1)}`,
    },
    {
      keys: ['H'],
      command: 'certificates.failures',
      help: 'Show failed handshakes in the log',
      hint: 'failures',
      run: (c) => drill(c, 'TLS ~ "^failed"'),
    },
  ],
  enter: (c) => CERTIFICATES_VIEW.act(c, { type: 'detail' }),
});

function items(session: DaemonSession, line: string): readonly unknown[] {
  return answerItems(session.admin.body(line));
}

/** A certificate that an authority has not issued, or not renewed: the authority's words in place of an issuer. */
function pending(session: DaemonSession, item: unknown): ListRow[] {
  const id = textField(item, 'id');
  const state = textField(item, 'state');
  if (state === 'valid' || state === '') return [];
  const problem = textField(item, 'problem');
  const names = namesOf(item).join(', ');
  return [
    {
      key: `${state} ${id}`,
      facts: { id, status: state },
      cells: [
        { text: id, tone: 'strong' },
        { text: state, tone: state === 'refused' ? 'bad' : 'warn' },
        { text: '' },
        { text: names },
        { text: 'automatic', tone: 'muted' },
        { text: problem, tone: problem === '' ? 'muted' : 'bad' },
      ],
      detail: () => [
        [{ text: `${state}: ${names}`, tone: 'strong' }],
        [{ text: problem === '' ? 'No refusals by the CA.' : problem }],
        [{ text: `Next attempt at ${clock(Number(textField(item, 'next')), session.utc)}`, tone: 'muted' }],
      ],
    },
  ];
}

/** Handshakes a second, how many of them are resumed, and why others fail. */
function remark(session: DaemonSession): string {
  const { counters } = session;
  if (counters.get('TLS.handshakes') === undefined) return '';
  const handshakes = counters.rate('TLS.handshakes');
  const resumed = handshakes > 0 ? `, ${percent(counters.rate('TLS.resumed') / handshakes)} resumed` : '';
  const failed = counters.rate('TLS.failed');
  const reasons = counters
    .all()
    .flatMap(({ info: { name } }) => (name.startsWith('TLS.failed_') ? [name] : []))
    .map((name) => ({
      reason: name.slice('TLS.failed_'.length).replaceAll('_', ' '),
      at: counters.rate(name),
    }))
    .filter(({ at }) => at > 0)
    .sort((a, b) => b.at - a.at)
    .map(({ reason, at }) => `${reason} ${rate(at)}/s`);
  const fails = failed > 0 ? `, ${rate(failed)}/s fail: ${reasons.join(', ')}` : '';
  return `${rate(handshakes)}/s handshakes${resumed}, ${count(Number(counters.value('TLS.pending')))} under way${fails}`;
}

function daysTone(days: number): Tone {
  return days < 0 ? 'bad' : days < SOON ? 'warn' : 'good';
}

/** The dashboard's words about certificates, short enough for the border of a panel; null while all are valid for long. */
export function expiryText(session: DaemonSession): { text: string; tone: 'bad' | 'warn' } | null {
  const { counters } = session;
  if (counters.get('TLS.days_left') === undefined) return null;
  const expired = Number(counters.value('TLS.certs_expired'));
  if (expired > 0)
    return { text: expired === 1 ? '1 cert expired' : `${expired} certs expired`, tone: 'bad' };
  const days = Number(counters.value('TLS.days_left'));
  if (days >= SOON || Number(counters.value('TLS.certs')) === 0) return null;
  const when = days === 0 ? 'today' : `in ${days}d`;
  return { text: `cert expires ${when}`, tone: 'warn' };
}

function row(session: DaemonSession, item: unknown): ListRow {
  const id = textField(item, 'id');
  const status = textField(item, 'status');
  const days = Number(textField(item, 'daysLeft'));
  const names = namesOf(item);
  const frontend = textField(item, 'frontend');
  return {
    key: `${status} ${id}`,
    facts: { id, status, frontend },
    cells: [
      { text: id, tone: 'strong' },
      { text: status, tone: TONES[status] ?? 'muted' },
      { text: days < 0 ? 'expired' : count(days), by: days, tone: daysTone(days) },
      { text: names.length === 0 ? textField(item, 'subject') : names.join(', ') },
      { text: frontend === 'default' ? 'all' : frontend, tone: 'muted' },
      { text: textField(item, 'issuer'), tone: 'muted' },
    ],
    detail: () => details(session, item),
  };
}

function namesOf(item: unknown): readonly string[] {
  const { names } = item as { names?: unknown };
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
}

function details(session: DaemonSession, item: unknown): readonly ToneLine[] {
  const time = (name: string): string => {
    const seconds = Date.parse(textField(item, name)) / 1000;
    return Number.isNaN(seconds)
      ? textField(item, name)
      : `${textField(item, name).slice(0, 10)} ${clock(seconds, session.utc)}`;
  };
  const line = (title: string, text: string): ToneLine => [
    { text: title.padEnd(14), tone: 'muted' },
    { text: text === '' ? 'none' : text },
  ];
  return [
    line('Subject', textField(item, 'subject')),
    line('Names', namesOf(item).join(', ')),
    line('Issuer', textField(item, 'issuer')),
    line('Serial', textField(item, 'serial')),
    line('Valid', `from ${time('notBefore')} to ${time('notAfter')}`),
    line('SHA-256', textField(item, 'fingerprint')),
    line('Stapled', textField(item, 'ocsp') === 'true' ? 'an OCSP response' : 'nothing'),
    line('File', textField(item, 'file')),
  ];
}
