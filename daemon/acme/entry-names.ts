// The names of a certificate that is obtained by itself: which can be, and what the set of them is called in files, in the
// fleet's bucket, and in lists.

import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Names of one certificate: as many as Let's Encrypt takes. */
const MOST_NAMES = 100;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Names in lower case and without repetitions, or the problem of the first that cannot be had. */
export function acmeNames(given: readonly string[]): readonly string[] | string {
  const names = [...new Set(given.map(plainName))];
  if (names.length === 0) return 'An automatic certificate needs names';
  if (names.length > MOST_NAMES) return `An automatic certificate has at most ${MOST_NAMES} names`;
  for (const name of names) {
    const problem = problemOf(name);
    if (problem !== null) return problem;
  }
  return names;
}

function plainName(given: string): string {
  const name = given.trim().toLowerCase().replace(/\.$/, '');
  if (isIP(name) !== 0)
    return isIP(name) === 4 ? name : new URL(`http://[${name.replace(/%.*/, '')}]/`).hostname.slice(1, -1);
  return /^[\x21-\x7e]*$/.test(name) ? name : domainToASCII(name) || name;
}

function problemOf(name: string): string | null {
  if (isIP(name) !== 0) return null;
  if (name.includes('*'))
    return `"${name}" cannot be had automatically: authorities give wildcards for dns-01 only; list the names, or load a certificate from a file`;
  const labels = name.split('.');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return `"${name}" is not a host name`;
  if (labels.length === 1) return `"${name}" is not a public name: an authority cannot check it`;
  return null;
}

/** One word for a set of names at one authority, whatever their order. */
export function entryKey(directory: string, names: readonly string[]): string {
  return digest(`${directory}\n${[...names].sort().join('\n')}`);
}

/** One word for an authority. */
export function directoryKey(directory: string): string {
  return digest(directory);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
