// Loaded before a worker (node --import): what it asks of the file system for the journal of purges goes wrong as the file
// that JOURNAL_FAULT names says: "enospc" while it says so, or "kill N before" and "kill N after", once, at the Nth call.
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const CALLS = ['write', 'datasync', 'truncate', 'sync'];
const file = process.env.JOURNAL_FAULT;
const { open } = promises;
let seen = 0;
let last = '';

function fault() {
  const content = fs.readFileSync(file, 'latin1').trim();
  if (content !== last) seen = 0;
  last = content;
  return content.split(' ');
}

async function played(call) {
  const [kind, at, when] = fault();
  if (kind === 'enospc')
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  const die = () => {
    fs.writeFileSync(file, '');
    process.kill(process.pid, 'SIGKILL');
  };
  const now = kind === 'kill' && ++seen === Number(at);
  if (now && when === 'before') die();
  const result = await call();
  if (now) die();
  return result;
}

promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest);
  if (!String(path).includes('/edge-queue')) return handle;
  for (const name of CALLS) {
    const call = handle[name].bind(handle);
    handle[name] = (...args) => played(() => call(...args));
  }
  return handle;
};
syncBuiltinESMExports();
