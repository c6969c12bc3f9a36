// Users and groups of this machine by name, from its account files.

import { readFileSync } from 'node:fs';

/** Id and primary group of a user; null if unknown. */
export function userAccount(name: string): { uid: number; gid: number } | null {
  const fields = entry('/etc/passwd', name);
  return fields === null ? null : { uid: Number(fields[2]), gid: Number(fields[3]) };
}

export function userId(name: string): number | null {
  return userAccount(name)?.uid ?? null;
}

export function groupId(name: string): number | null {
  const fields = entry('/etc/group', name);
  return fields === null ? null : Number(fields[2]);
}

function entry(file: string, name: string): string[] | null {
  if (name === '') return null;
  for (const line of linesOf(file)) {
    const fields = line.split(':');
    if (fields[0] === name) return fields;
  }
  return null;
}

/** The lines of a file; none if it does not exist. */
export function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
