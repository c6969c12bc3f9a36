// Parameters of Varnish without meaning here: setting them has no effect and returns a warning, so that units and
// scripts keep working. A value that Varnish would refuse is refused with the same text, unless that depends on another
// parameter. Nothing is stored.

import { ABSENT_PARAMS, type AbsentParam, type ParamRow } from '../../protocol/tables/params.ts';
import { ParamError, parseValue } from './value.ts';

/** A setting that was accepted although it has no effect; `text` says why. */
export class NoEffect {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const ROWS: ReadonlyMap<string, AbsentParam> = new Map(ABSENT_PARAMS.map((row) => [row.name, row]));

/** The row of a parameter without meaning here; null for any other. */
export function absentParam(name: string): AbsentParam | null {
  return ROWS.get(name) ?? null;
}

/** The warning for such a setting, or the error of the value. */
export function setAbsent(row: AbsentParam, text: string): NoEffect | ParamError {
  return checkValue(row, text) ?? noEffect(row);
}

export function noEffect(row: AbsentParam): NoEffect {
  return new NoEffect(`Parameter "${row.name}" has no effect here: ${row.reason}.`);
}

function checkValue(row: AbsentParam, text: string): ParamError | null {
  const { type } = row;
  if (type === 'pool') {
    const known = /^\s*\d+\s*,\s*\d+\s*,\s*\d+(?:\.\d+)?\s*$/.test(text);
    return known ? null : new ParamError('Three fields required: min_pool, max_pool and max_age\n');
  }
  const like: ParamRow = { ...row, type, bits: row.bits ?? [], default: 'none', help: '' };
  const value = parseValue(like, text, 'none');
  return value instanceof ParamError ? value : null;
}

/** The text of param.show for an unavailable parameter, with the reason. */
export function showAbsent(row: AbsentParam): string {
  return `${row.name}\n        Not available\n\n        No effect here: ${row.reason}.\n\n`;
}

export function showAbsentJson(row: AbsentParam): string {
  return `  {\n    "name": ${JSON.stringify(row.name)},\n    "implemented": false\n  }`;
}
