// Makes config programs from the language's own tables: most of what it writes is legal where it stands, so that
// many programs compile and can be run, and some of it is not.

import { STATES, type StateName } from '../../daemon/contract/program.ts';
import { RETURNS, type ReturnRow } from '../../protocol/tables/returns.ts';
import { placesToStates, VARIABLES, type VariableRow } from '../../protocol/tables/variables.ts';
import type { Random } from './random.ts';

/** The variables that Varnish 7.1 has, in its places: the programs are for it, too. */
const ROWS = (VARIABLES as readonly VariableRow[])
  .filter((row) => row.ours !== true && (row.newer === undefined || row.newer.was !== undefined))
  .map((row) => ({ ...row, ...row.newer?.was }));
/** Its states and actions. */
const OF_71 = STATES.filter((state) => state !== 'backend_refresh');
const ACTIONS = (RETURNS as readonly ReturnRow[]).filter(
  ({ states }) => states.length === 0 || states.some((state) => state !== 'backend_refresh'),
);
const FIELDS = ['host', 'Cookie', 'X-A', 'n', '"x.y"', 'Content-Type', 'Vary', 'empty', 'none'];
/** Refused by every compiler. */
const BAD_PATTERNS = ['(', '[z-a]'];
const PATTERNS = ['a', '^/x', '(?i)b+', '(a|b)*c$', '[0-9]{2,}', '', '\\\\.', 'a(?=b)', '(.)(.)', '^$'];
const DURATIONS = ['1s', '0s', '1.5h', '10ms', '3w', '0.001s', '1y'];
const NUMBERS = ['0', '1', '7', '200', '404', '999999999999999', '65536'];
const REALS = ['0.5', '1.0', '999999999999.999', '0.0'];

export class ProgramGrammar {
  readonly #random: Random;
  #state: StateName = 'recv';
  #depth = 0;
  #syntax = 41;

  constructor(random: Random) {
    this.#random = random;
  }

  program(): string {
    const r = this.#random;
    this.#syntax = r.pick([40, 41, 41, 41]);
    const parts = [`vcl 4.${this.#syntax - 40};`, 'import std;', 'backend d { .host = "127.0.0.1"; }'];
    if (r.chance(0.5)) parts.push(`probe p { .url = "/${r.below(9)}"; .interval = ${r.pick(DURATIONS)}; }`);
    const probe = parts.at(-1)?.startsWith('probe') === true ? ' .probe = p;' : '';
    parts.push(`backend e { .host = "127.0.0.${r.below(256)}";${probe} }`);
    parts.push(`acl ac ${r.pick(['', '+log', '-pedantic', '+log +table'])} { ${this.#entries()} }`);
    parts.push('sub use { if (client.ip ~ ac) { set req.backend_hint = e; } }');
    parts.push('sub vcl_pass { call use; }');
    const helpers = r.times(2, () => this.#sub(r.pick(OF_71), true));
    const states = r.times(4, () => this.#sub(r.pick(OF_71), false));
    return [...parts, ...helpers, ...states].join(r.pick(['\n', ' ', '\n# c\n', '/* c */']));
  }

  #entries(): string {
    const r = this.#random;
    const odd = (): boolean => r.chance(0.02);
    const one = (): string =>
      `${r.chance(0.2) ? '! ' : ''}"${odd() ? 300 : r.below(120)}.0.0.0"/${odd() ? r.below(34) : 8 + r.below(24)};`;
    return `"127.0.0.1"; ${r.times(3, one).join(' ')}`;
  }

  #sub(state: StateName, helper: boolean): string {
    this.#state = state;
    const body = this.#block();
    if (!helper) return `sub vcl_${state} {${body}}`;
    const name = `h${this.#random.below(1000)}`;
    return `sub ${name} {${body}} sub vcl_${state} { call ${name}; }`;
  }

  #block(): string {
    if (this.#depth > 3) return ' ';
    this.#depth++;
    const out = this.#random.times(5, () => this.#statement()).join(' ');
    this.#depth--;
    return ` ${out} `;
  }

  #statement(): string {
    const r = this.#random;
    switch (r.below(9)) {
      case 0:
      case 1:
      case 2:
        return this.#set();
      case 3: {
        const row = this.#variable('unset');
        return row === null ? 'std.log("u");' : `unset ${row};`;
      }
      case 4: {
        const tail = r.chance(0.4)
          ? ` ${r.pick(['elsif', 'elseif', 'elif', 'else if'])} (${this.#value('BOOL')}) {${this.#block()}}`
          : '';
        return `if (${this.#value('BOOL')}) {${this.#block()}}${tail}${r.chance(0.4) ? ` else {${this.#block()}}` : ''}`;
      }
      case 5:
        return `std.log(${this.#value('STRING')});`;
      case 6:
        return r.chance(0.5) ? this.#return() : 'std.timestamp("t");';
      case 7:
        return r.pick([
          `std.collect(${this.#state.startsWith('backend') ? 'bereq' : 'req'}.http.X-A);`,
          'ban("req.url ~ " + now);',
          this.#state === 'hash' ? 'hash_data("x");' : 'std.log("h");',
          this.#state === 'synth' || this.#state === 'backend_error' ? 'synthetic("x");' : 'std.log("s");',
          '{ std.log("b"); }',
        ]);
      default:
        return r.chance(0.99)
          ? this.#set()
          : r.pick(['set now = now;', 'call nosuch;', 'return;', ';', 'set req.url = ;']);
    }
  }

  #return(): string {
    const r = this.#random;
    const legal = ACTIONS.filter((row) => row.states.includes(this.#state));
    const row = r.chance(0.95) && legal.length > 0 ? r.pick(legal) : r.pick(ACTIONS);
    switch (row.args) {
      case 'status':
        return `return (${row.name}(${this.#value('INT')}${r.chance(0.5) ? `, ${this.#value('STRING')}` : ''}));`;
      case 'optional-status':
        return r.chance(0.5) ? `return (${row.name});` : `return (${row.name}(${this.#value('INT')}));`;
      case 'optional-duration':
        return r.chance(0.7) ? `return (${row.name});` : `return (${row.name}(${this.#value('DURATION')}));`;
      default:
        return `return (${row.name});`;
    }
  }

  #set(): string {
    const r = this.#random;
    const rows = ROWS.filter((v) => this.#may(v, 'write'));
    if (rows.length === 0) return 'std.log("none");';
    const row = r.chance(0.997) ? r.pick(rows) : r.pick(ROWS);
    const name = this.#named(row);
    const type = row.type === 'HEADER' || row.type === 'BODY' ? 'STRING' : row.type;
    const numeric = type === 'INT' || type === 'DURATION' || type === 'BYTES';
    const op = r.chance(0.7)
      ? '='
      : type === 'STRING'
        ? '+='
        : numeric
          ? r.pick(['+=', '-=', '*=', '/='])
          : '=';
    const wants = (op === '*=' || op === '/=') && type === 'DURATION' ? 'REAL' : type;
    return `set ${name} ${op} ${this.#value(wants)};`;
  }

  #may(row: VariableRow, how: 'read' | 'write' | 'unset'): boolean {
    if ((row.since ?? 0) > this.#syntax || (row.until ?? 99) < this.#syntax) return false;
    return placesToStates(row[how]).includes(this.#state);
  }

  #named(row: VariableRow): string {
    return row.name.replace('storage.*', 'storage.s0').replace('*', this.#random.pick(FIELDS));
  }

  #variable(how: 'read' | 'unset', type?: string): string | null {
    const rows = ROWS.filter(
      (v) =>
        this.#may(v, how) &&
        (type === undefined || v.type === type || (type === 'STRING' && v.type === 'HEADER')),
    );
    return rows.length === 0 ? null : this.#named(this.#random.pick(rows));
  }

  #value(type: string): string {
    const r = this.#random;
    if (++this.#depth > 7) {
      this.#depth--;
      return this.#constant(type);
    }
    const out = this.#deepValue(type);
    this.#depth--;
    return r.chance(0.1) ? `(${out})` : out;
  }

  #deepValue(type: string): string {
    const r = this.#random;
    const variable = r.chance(0.4) ? this.#variable('read', type) : null;
    if (variable !== null) return variable;
    const of = (t: string): string => this.#value(t);
    switch (type) {
      case 'BOOL':
        return r.pick([
          () => `${of('STRING')} ~ "${this.#pattern()}"`,
          () => `${of('STRING')} ${r.pick(['==', '!=', '<', '>='])} ${of('STRING')}`,
          () => `${of('INT')} ${r.pick(['==', '<', '>='])} ${of('INT')}`,
          () => `(${of('BOOL')} ${r.pick(['&&', '||'])} ${of('BOOL')})`,
          () => `!${of('STRING')}`,
          () => `${of('DURATION')} > ${of('DURATION')}`,
          () => `${of('TIME')} <= ${of('TIME')}`,
          () => `std.healthy(${r.pick(['d', 'e'])})`,
          () => of('STRING'),
        ])();
      case 'STRING':
        return r.pick([
          () => `${of('STRING')} + ${of(r.pick(['STRING', 'INT', 'DURATION', 'TIME', 'BOOL', 'REAL']))}`,
          () => `regsub(${of('STRING')}, "${this.#pattern()}", ${of('STRING')})`,
          () => `regsuball(${of('STRING')}, "${this.#pattern()}", "\\\\1-")`,
          () => `std.tolower(${of('STRING')})`,
          () => `std.querysort(${of('STRING')})`,
          () => `(${of('STRING')}).upper()`,
          () => this.#constant('STRING'),
        ])();
      case 'INT':
        return r.pick([
          () => `${of('INT')} ${r.pick(['+', '-', '*', '/', '%'])} ${of('INT')}`,
          () => `std.integer(${of('STRING')}, ${r.pick(NUMBERS)})`,
          () => this.#constant('INT'),
        ])();
      case 'REAL':
        return r.pick([
          () => `${of('REAL')} ${r.pick(['+', '*', '/'])} ${of('REAL')}`,
          () => this.#constant('REAL'),
        ])();
      case 'DURATION':
        return r.pick([
          () => `${of('DURATION')} ${r.pick(['+', '-'])} ${of('DURATION')}`,
          () => `${of('DURATION')} ${r.pick(['*', '/'])} (${of('REAL')})`,
          () => `(${of('TIME')} - ${of('TIME')})`,
          () => this.#constant('DURATION'),
        ])();
      case 'TIME':
        return r.pick([() => `now ${r.pick(['+', '-'])} ${this.#constant('DURATION')}`, () => 'now'])();
      default:
        return this.#constant(type);
    }
  }

  #pattern(): string {
    return this.#random.pick(this.#random.chance(0.02) ? BAD_PATTERNS : PATTERNS);
  }

  #constant(type: string): string {
    const r = this.#random;
    switch (type) {
      case 'BOOL':
        return r.pick(['true', 'false']);
      case 'INT':
        return r.pick(NUMBERS);
      case 'REAL':
        return r.pick(REALS);
      case 'DURATION':
        return r.pick(DURATIONS);
      case 'BYTES':
        return r.pick(['1B', '1KB', '1.5MB', '10TB']);
      case 'TIME':
        return 'now';
      case 'BACKEND':
        return r.pick(['d', 'e', 'default']);
      case 'STEVEDORE':
        return r.pick(['storage.s0', 'storage.Transient']);
      case 'IP':
        return r.pick(['client.ip', '"127.0.0.1"']);
      case 'BLOB':
        return ':YWFh:';
      default:
        return r.pick([
          '"a"',
          '""',
          '"é"',
          '{"long "x""}',
          '"""b"""',
          '"/x?b=1&a=2"',
          '"%41"',
          '"\\\\1"',
          '"10"',
        ]);
    }
  }
}
