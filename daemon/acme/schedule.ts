// When to renew, and when to try again. Pure functions of a state, the time and a random number.

import type { FailureKind } from './acme-failure.ts';
import type { RenewalWindow } from './acme-messages.ts';
import type { EntryState, RenewalChoice, StoredCertificate } from './entry-state.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds before the first repetition and the longest wait, doubling in between (chosen; the first five refusals
 * of Let's Encrypt's hourly limit of failed validations are further apart than an hour). */
const BACK_OFF: { readonly [kind in FailureKind]: { readonly first: number; readonly longest: number } } = {
  refused: { first: 5 * MINUTE, longest: DAY },
  limited: { first: 15 * MINUTE, longest: DAY },
  unavailable: { first: 30_000, longest: HOUR },
};
/** Waits are longer by up to this share of them, so that many daemons do not ask together. */
const JITTER = 0.25;
/** The longest wait that an authority may ask for (chosen): a week is the longest of Let's Encrypt's limits. */
const LONGEST_WAIT = 8 * DAY;

/** Epoch milliseconds of the next attempt after a failure.
 * @param failures with this one @param asked the authority's own time; null for none @param random from 0 to 1 */
export function nextAttempt(
  kind: FailureKind,
  failures: number,
  asked: number | null,
  now: number,
  random: number,
): number {
  const { first, longest } = BACK_OFF[kind];
  const wait = Math.min(longest, first * 2 ** Math.min(30, Math.max(0, failures - 1)));
  const own = now + wait * (1 + JITTER * random);
  return Math.round(asked === null ? own : Math.min(now + LONGEST_WAIT, Math.max(own, asked)));
}

/** Epoch milliseconds at which a certificate is to be renewed: when the authority's information says so, else after two
 * thirds of its life. */
export function renewalTime(
  { notBefore, notAfter }: StoredCertificate,
  choice: RenewalChoice | null,
): number {
  // A window that does not end before the certificate does is no help.
  if (choice !== null && choice.at < notAfter) return choice.at;
  return notBefore + ((notAfter - notBefore) * 2) / 3;
}

/** A time within the authority's window (RFC 9773 section 4.2); the former choice while the window is the same. */
export function chosenWithin(
  { start, end }: RenewalWindow,
  former: RenewalChoice | null,
  random: number,
): RenewalChoice {
  if (former?.start === start && former.end === end) return former;
  return { start, end, at: Math.round(start + (end - start) * random) };
}

/** Bounds of the interval between two readings of the renewal information, and what it is without a Retry-After (RFC 9773
 * section 4.3.2). */
const RENEWAL_CHECKS = { least: MINUTE, usual: 6 * HOUR, most: DAY } as const;

/** @param asked epoch milliseconds; null if the authority does not say */
export function nextRenewalCheck(asked: number | null, now: number): number {
  const { least, usual, most } = RENEWAL_CHECKS;
  return asked === null ? now + usual : Math.min(now + most, Math.max(now + least, asked));
}

/** Epoch milliseconds of the next request to the authority for these names. */
export function dueTime({ certificate, order, notBefore, renewal }: EntryState, now: number): number {
  // A longer wait was written while the clock was wrong.
  const attempt = notBefore > now + LONGEST_WAIT ? now : notBefore;
  if (certificate === null || order !== null) return attempt;
  return Math.max(attempt, renewalTime(certificate, renewal));
}

/** Orders for one name a day (chosen): back-off alone makes nine of them. */
const ORDERS_A_DAY = 10;
/** Orders for one name in one life of a certificate, where that is shorter than a day (chosen). */
const ORDERS_A_LIFE = 3;
/** Orders of the account in three hours (chosen): a third of what Let's Encrypt allows. */
const ORDERS_OF_ACCOUNT = 100;
const ACCOUNT_PERIOD = 3 * HOUR;

/** The times of those orders that still count. */
export function countedOrders(orders: readonly number[], now: number): number[] {
  return orders.filter((at) => at > now - DAY && at <= now);
}

/** Whether another order may be made: null, or when it may be and why not now.
 * @param all the states of all sets of names, also of former ones
 * @param life of these names' certificate in milliseconds; null if they have none yet */
export function orderLimit(
  all: readonly Pick<EntryState, 'names' | 'orders'>[],
  names: readonly string[],
  life: number | null,
  now: number,
): { readonly until: number; readonly why: string } | null {
  const most = life === null ? ORDERS_A_DAY : Math.max(ORDERS_A_DAY, Math.ceil((ORDERS_A_LIFE * DAY) / life));
  for (const name of names) {
    const made = all.filter((state) => state.names.includes(name)).flatMap(({ orders }) => orders);
    const until = freeAt(made, most, DAY, now);
    if (until > now) return { until, why: `there were ${most} orders for ${name} within a day` };
  }
  const made = all.flatMap(({ orders }) => orders);
  const until = freeAt(made, ORDERS_OF_ACCOUNT, ACCOUNT_PERIOD, now);
  return until > now ? { until, why: `there were ${ORDERS_OF_ACCOUNT} orders within three hours` } : null;
}

/** When fewer than `most` of the orders are younger than `period`. */
function freeAt(orders: readonly number[], most: number, period: number, now: number): number {
  const recent = orders.filter((at) => at > now - period && at <= now);
  const deciding = recent.sort((a, b) => b - a)[most - 1];
  return deciding === undefined ? now : deciding + period;
}
