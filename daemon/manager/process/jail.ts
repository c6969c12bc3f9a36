// -j: the users of the worker and of the process that describes extensions.
//
// Started as root, the manager stays root: it binds ports, starts workers and reads programs. Every process that
// handles external input or runs an extension becomes an unprivileged user, as in Varnish's unix and linux jails; -j none
// disables that. A jail that was requested but is impossible is an error, never silently root.

import type { Account } from '../../privileges.ts';
import { OptionError } from '../options/option-error.ts';
import { groupId, userAccount } from './accounts.ts';

export type JailOption =
  | { kind: 'none' }
  | { kind: 'unix'; user?: string; workuser?: string; ccgroup?: string };

export interface Jail {
  worker: Account;
  /** The user of the process that describes extensions; same primary group. */
  describer: Account;
}

/** Access of others than the manager: the accounts of -j, and the group id of --read-group. */
export interface Access {
  jail: Jail | null;
  readers: number | null;
}

/** Account lookup, replaceable in tests. */
export interface Accounts {
  userAccount: typeof userAccount;
  groupId: typeof groupId;
}

const HERE: Accounts = { userAccount, groupId };

/** Users tried in order if -j names none. */
const DEFAULT_USERS = ['proxyd', 'nobody'];
const NAMES = ['user', 'workuser', 'ccgroup'] as const;

/** Parses the argument of -j. Throws OptionError. */
export function parseJail(text: string): JailOption {
  if (text === '') throw new OptionError('-j argument is empty');
  const [kind = '', ...rest] = text.split(',');
  if (kind === 'none') {
    if (rest.length > 0) throw new OptionError('-jnone takes no arguments.');
    return { kind };
  }
  if (kind !== 'unix' && kind !== 'linux') throw new OptionError(`Unknown jail method "${kind}"`);
  const option: JailOption = { kind: 'unix' };
  for (const word of rest) {
    if (kind === 'linux' && word.startsWith(HUGE_PAGES)) {
      checkHugePages(word.slice(HUGE_PAGES.length));
      continue;
    }
    const name = NAMES.find((n) => word.startsWith(`${n}=`));
    if (name === undefined) throw new OptionError(`Unix jail: unknown sub-argument '${word}'`);
    option[name] = word.slice(name.length + 1);
  }
  return option;
}

const HUGE_PAGES = 'transparent_hugepage=';

/** The runtime cannot turn huge pages off for a process: only that is refused which insists on it. */
function checkHugePages(value: string): void {
  if (value === 'disable')
    throw new OptionError('linux jail: transparent huge pages cannot be disabled here: use try-disable');
  if (!['ignore', 'enable', 'try-disable'].includes(value))
    throw new OptionError(`linux jail: unknown value '${value}' for argument transparent_hugepage.`);
}

/** Resolves -j and --read-group on this machine. Throws OptionError. */
export function makeAccess(
  options: { jail: JailOption | null; readGroup: string | null },
  accounts = HERE,
): Access {
  const uid = process.geteuid?.() ?? -1;
  const jail = makeJail(options.jail, uid, accounts);
  if (options.readGroup === null) return { jail, readers: null };
  const readers = accounts.groupId(options.readGroup);
  if (readers === null) throw new OptionError(`--read-group: there is no group ${options.readGroup}`);
  if (uid !== 0 && process.getegid?.() !== readers && process.getgroups?.().includes(readers) !== true) {
    throw new OptionError(`--read-group: only root or a member of ${options.readGroup} can give it access`);
  }
  return { jail, readers };
}

/** Whether users other than the manager's must reach files in the working directory. */
export function isShared({ jail, readers }: Access): boolean {
  return jail !== null || readers !== null;
}

/** The accounts of a jail; null without one (not root, or -j none). Throws OptionError. */
export function makeJail(option: JailOption | null, uid: number, accounts = HERE): Jail | null {
  if (option?.kind === 'none') return null;
  if (uid !== 0) {
    if (option === null) return null;
    throw new OptionError('Unix Jail: Must be root.');
  }
  const user = option?.user === undefined ? defaultUser(accounts) : account(option.user, accounts);
  const worker = option?.workuser === undefined ? user : account(option.workuser, accounts);
  if (worker.gid !== user.gid) {
    throw new OptionError(`Unix jail: user ${user.user} and ${worker.user} have different login groups`);
  }
  if (option?.ccgroup === undefined) return { worker, describer: user };
  const extraGroup = accounts.groupId(option.ccgroup);
  if (extraGroup === null) throw new OptionError(`Unix jail: ${option.ccgroup} group not found.`);
  return { worker, describer: { ...user, extraGroup } };
}

function account(name: string, accounts: Accounts): Account {
  const found = accounts.userAccount(name);
  if (found === null) throw new OptionError(`Unix jail: ${name} user not found.`);
  if (found.uid === 0) {
    throw new OptionError(
      `Unix jail: user ${name} is root, which is no jail: name another user, or use -j none`,
    );
  }
  return { user: name, ...found };
}

function defaultUser(accounts: Accounts): Account {
  for (const name of DEFAULT_USERS) {
    const found = accounts.userAccount(name);
    if (found !== null && found.uid !== 0) return { user: name, ...found };
  }
  throw new OptionError(
    `Unix jail: there is no user ${DEFAULT_USERS.join(' or ')} for the worker: create one, name one with -j unix,user=NAME, or keep root with -j none`,
    false,
  );
}
