// Counters as text, in the layouts of varnishstat: -1, -j, -x and -l. Values are decimal strings throughout, to
// preserve 64 bits.

import { localTime } from '../../protocol/local-time.ts';
import type { CounterInfo } from '../../protocol/messages.ts';
import { strftime } from '../../protocol/strftime.ts';

export interface CounterValue extends CounterInfo {
  /** Decimal digits. */
  value: string;
}

/** -1: name, value, average since start (`.` for gauges), description. */
export function statLines(counters: readonly CounterValue[], uptime: number): string {
  let width = 17;
  let out = '';
  for (const c of counters) {
    width = Math.max(width, c.name.length);
    const average =
      c.flag === 'c'
        ? `${(Number(c.value) / Math.max(uptime, 1)).toFixed(2).padStart(12)} `
        : `${'.'.padStart(10)}   `;
    out += `${c.name.padEnd(width)} ${c.value.padStart(12)} ${average}${c.description}\n`;
  }
  return out;
}

/** -j: version 1, as read by exporters. Numbers are written as digits, never converted to doubles. */
export function statJson(counters: readonly CounterValue[], at: Date): string {
  const rows = counters.map(
    (c) =>
      `    ${JSON.stringify(c.name)}: {\n` +
      `      "description": ${JSON.stringify(c.description)},\n` +
      `      "flag": "${c.flag}",\n      "format": "${c.format}",\n      "value": ${c.value}\n    }`,
  );
  return `{\n  "version": 1,\n  "timestamp": "${timeText(at)}",\n  "counters": {\n${rows.join(',\n')}\n  }\n}\n`;
}

/** -x. */
export function statXml(counters: readonly CounterValue[], at: Date): string {
  const rows = counters.map(
    (c) =>
      `\t<stat>\n\t\t<name>${xml(c.name)}</name>\n\t\t<value>${c.value}</value>\n\t\t<flag>${c.flag}</flag>\n` +
      `\t\t<format>${c.format}</format>\n\t\t<description>${xml(c.description)}</description>\n\t</stat>\n`,
  );
  return `<?xml version="1.0"?>\n<proxystat timestamp="${timeText(at)}">\n${rows.join('')}</proxystat>\n`;
}

/** -l. */
export function statList(info: readonly CounterInfo[]): string {
  let out = 'Proxystat -f option fields:\nField name                     Description\n';
  out += '----------                     -----------\n';
  for (const c of info) out += `${c.name.padEnd(30)} ${c.description}\n`;
  return out;
}

function xml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** YYYY-MM-DDTHH:MM:SS in local time. */
function timeText(at: Date): string {
  return strftime('%Y-%m-%dT%H:%M:%S', localTime(at.getTime() / 1000));
}
