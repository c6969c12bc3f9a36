// The parameters of one process: the manager's (which operators change) and the worker's copy.
//
// Knows names, values and validation, and sends nothing: the caller passes changes on. The worker's hot path reads
// `hot`, a plain object of numbers with a constant shape.

import {
  type AbsentParam,
  type DebugName,
  type FeatureName,
  type NumericParam,
  PARAMS,
  type ParamName,
  type ParamRow,
  type ParamType,
} from '../../protocol/tables/params.ts';
import { type Changes, changesOf, RELEASES } from '../../protocol/tables/release-changes.ts';
import type { ParamValue } from '../link.ts';
import { absentParam, type NoEffect, noEffect, setAbsent } from './absent.ts';
import { ALIASES, RELATED } from './related.ts';
import { bitsOf, formatSet, formatValue, maskedTags, ParamError, parseValue } from './value.ts';

/** Types whose values are strings. */
const TEXTS: ReadonlySet<ParamType> = new Set(['bits', 'mask', 'string', 'header', 'storage']);
/** Rows whose default depends on the release. */
const NEWER = (PARAMS as readonly ParamRow[]).filter((row) => row.since9?.default !== undefined);
const ROWS: ReadonlyMap<string, ParamRow> = new Map(PARAMS.map((row) => [row.name, row as ParamRow]));

export class Params {
  /** Every numeric and boolean parameter as a number: seconds, bytes, counts, 0 or 1. */
  readonly hot: Record<NumericParam, number>;
  /** Defaults that depend on the machine. */
  private readonly defaults: Readonly<Partial<Record<ParamName, string>>>;
  private readonly values = new Map<string, ParamValue>();
  private readonly readOnly = new Set<string>();

  /** @param defaults that depend on the machine (rows with `defaultIs`) */
  constructor(
    initial: Readonly<Record<string, ParamValue>> = {},
    defaults: Readonly<Partial<Record<ParamName, string>>> = {},
  ) {
    this.defaults = defaults;
    const hot: Record<string, number> = {};
    for (const row of PARAMS) {
      const value = firstValue(row, defaults[row.name]);
      this.values.set(row.name, value);
      if (typeof value !== 'string') hot[row.name] = Number(value);
    }
    // An object filled key by key becomes a hash table, and every read of it a lookup; one that is parsed as a whole
    // gets its own shape, and a read is one load.
    this.hot = JSON.parse(JSON.stringify(hot)) as Record<NumericParam, number>;
    // All values of another process: none is to follow from another.
    for (const [name, value] of Object.entries(initial)) this.store(name, value);
  }

  /** Changes of Varnish that hold, by varnish_release. */
  get changes(): Changes {
    return changesOf(RELEASES[this.hot.varnish_release] ?? RELEASES[0]);
  }

  /** The row of a parameter, or the error for an unknown name. */
  static find(name: string): ParamRow | ParamError {
    return ROWS.get(name) ?? new ParamError(`Unknown parameter "${name}".`);
  }

  get(name: ParamName): ParamValue {
    return this.values.get(name) as ParamValue;
  }

  /** A number (seconds, bytes, counts); booleans are 0 and 1. */
  num(name: NumericParam): number {
    return this.hot[name];
  }

  bool(name: NumericParam): boolean {
    return this.hot[name] !== 0;
  }

  text(name: ParamName): string {
    return String(this.values.get(name));
  }

  feature(bit: FeatureName): boolean {
    return this.text('feature').split(',').includes(`+${bit}`);
  }

  /** Whether the operator has switched the feature off by name, where that differs from its default. */
  featureDenied(bit: FeatureName): boolean {
    return this.text('feature').split(',').includes(`-${bit}`);
  }

  debug(bit: DebugName): boolean {
    return this.text('debug').split(',').includes(`+${bit}`);
  }

  /** Names of the log tags that vsl_mask excludes. */
  masked(): string[] {
    return maskedTags(this.text('vsl_mask'));
  }

  /** Stores a value that was validated elsewhere (the worker's side of a change); unknown names are ignored. */
  apply(name: string, value: ParamValue): void {
    // A value at its default becomes the default of the new release.
    const untouched = name === 'varnish_release' ? NEWER.filter((row) => this.isDefault(row)) : [];
    this.store(name, value);
    for (const row of untouched) this.store(row.name, this.defaultOf(row));
    RELATED[name]?.(value, this, (other, follows) => this.store(other, follows));
  }

  private store(name: string, value: ParamValue): void {
    if (!this.values.has(name)) return;
    this.values.set(name, value);
    if (typeof value !== 'string') this.hot[name as NumericParam] = Number(value);
  }

  /** Parses, validates and stores. The text of an error or warning is the reply to param.set. */
  set(name: string, text: string): ParamValue | ParamError | NoEffect {
    if (this.isProtected(name)) return protectedError(name);
    const absent = absentParam(name);
    if (absent !== null) return asAttempt(this.setAbsent(absent, text), name, text);
    const row = Params.find(name);
    if (row instanceof ParamError) return row;
    const value = this.parsed(row, text);
    if (value instanceof ParamError) return asAttempt(value, name, text);
    this.apply(name, value);
    return value;
  }

  private parsed(row: ParamRow, text: string): ParamValue | ParamError {
    const { commandErrors } = this.changes;
    if (commandErrors && row.type === 'bits' && text === 'default') return this.defaultOf(row);
    return this.inWords(
      row,
      text,
      parseValue(this.asOfNow(row), text, this.values.get(row.name) as ParamValue),
    );
  }

  private setAbsent(row: AbsentParam, text: string): NoEffect | ParamError {
    if (this.changes.commandErrors && row.type === 'bits' && text === 'default') return noEffect(row);
    return this.inWords(row, text, setAbsent(row, text));
  }

  /** An error in the words of the release. */
  private inWords<T>({ type }: { type: string }, text: string, result: T | ParamError): T | ParamError {
    const isUnit =
      this.changes.commandErrors &&
      type === 'timeout' &&
      result instanceof ParamError &&
      isUnread(result, text);
    return isUnit ? new ParamError(`Invalid duration unit (${text})\n`) : result;
  }

  reset(name: string): ParamValue | ParamError | NoEffect {
    if (this.isProtected(name)) return protectedError(name);
    const absent = absentParam(name);
    if (absent !== null) return noEffect(absent);
    const row = Params.find(name);
    if (row instanceof ParamError) return row;
    const value = this.defaultOf(row);
    this.apply(name, value);
    return value;
  }

  /** The row with the default of this machine and of the release, with limits that depend on other parameters, and
   * marked if it is read-only. */
  asOfNow(old: ParamRow): ParamRow {
    const row = this.ofRelease(old);
    const { minBy, maxBy, flags = [] } = row;
    const isProtected = this.isProtected(row.name);
    const initial = this.defaults[row.name as ParamName];
    if (minBy === undefined && maxBy === undefined && initial === undefined && !isProtected) return row;
    const limit = ([name, plus]: readonly [string, number]): string =>
      String(this.hot[name as NumericParam] + plus);
    return {
      ...row,
      ...(initial === undefined ? {} : { default: initial }),
      ...(minBy === undefined ? {} : { min: limit(minBy) }),
      ...(maxBy === undefined ? {} : { max: limit(maxBy) }),
      flags: isProtected ? [...flags, 'protected'] : flags,
    };
  }

  private ofRelease(row: ParamRow): ParamRow {
    return row.since9 === undefined || !this.changes.parameterBounds ? row : { ...row, ...row.since9 };
  }

  /** Makes a parameter read-only (-r), by each of its names. The error is a text. */
  protect(name: string): string | null {
    if (!ROWS.has(name) && absentParam(name) === null) return `Unknown parameter ${name}`;
    const of = ALIASES.get(name);
    if (of !== undefined && this.changes.parameterAliases)
      return `Parameter ${name} is an alias of ${of}, which can be made read-only`;
    this.readOnly.add(name);
    return null;
  }

  private isProtected(name: string): boolean {
    if (this.readOnly.has(name) || this.readOnly.has(ALIASES.get(name) ?? '')) return true;
    for (const [alias, of] of ALIASES) if (of === name && this.readOnly.has(alias)) return true;
    return false;
  }

  isDefault(row: ParamRow): boolean {
    return this.shown(row) === this.format(row, this.defaultOf(row));
  }

  /** The value in the format of param.show, without its unit. */
  shown(row: ParamRow): string {
    return this.format(row, this.values.get(row.name) as ParamValue);
  }

  /** A value in the format of param.show, without its unit. */
  format(row: ParamRow, value: ParamValue): string {
    const isSet = row.type === 'bits' || row.type === 'mask';
    return isSet && this.changes.bitSets ? formatSet(row, String(value)) : formatValue(row, value);
  }

  /** All values, for the message that starts a worker. */
  snapshot(): Record<string, ParamValue> {
    return Object.fromEntries(this.values);
  }

  private defaultOf(row: ParamRow): ParamValue {
    return firstValue(this.ofRelease(row), this.defaults[row.name as ParamName]);
  }

  /** Enabled bits of a bit-set parameter. */
  bits(row: ParamRow): string[] {
    return bitsOf(row, this.text(row.name as ParamName));
  }
}

/** Whether a duration was refused for its form, and not for its size. */
function isUnread({ text: error }: ParamError, text: string): boolean {
  return text.trim() !== '' && error.endsWith(` (${text})\n`);
}

/** The value of a default. */
function firstValue(row: ParamRow, text = row.default): ParamValue {
  if (TEXTS.has(row.type)) return text;
  const value = parseValue(row, text, 0);
  if (value instanceof ParamError) throw new Error(`default of parameter ${row.name}: ${value.text}`);
  return value;
}

/** Appends the attempted value to an error; other results are returned unchanged. */
function asAttempt<T>(result: T | ParamError, name: string, text: string): T | ParamError {
  if (!(result instanceof ParamError)) return result;
  return new ParamError(`${result.text}\n(attempting to set param '${name}' to '${text}')`);
}

function protectedError(name: string): ParamError {
  return new ParamError(`parameter "${name}" is protected.`, true);
}
