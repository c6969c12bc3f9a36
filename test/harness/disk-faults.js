// Loaded before a worker (node --import): the files of its disk tier go wrong as the file that DISK_FAULT names says. "slow" and
// "unsynced": a read or a sync takes a thread of the runtime's pool until there is a byte for it in the pipe that DISK_PIPE names;
// "full" and "broken": writes and reads fail.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const TIER = /\/(segment|journal)-\d+/;
const LOCK = /\/self\/fd\/\d+\/lock/;
const file = process.env.DISK_FAULT;
const pipe = fs.openSync(process.env.DISK_PIPE, fs.constants.O_RDWR);
const ofTier = new Set();
const { read } = fs;

function fault() {
  return fs.readFileSync(file, 'latin1').trim();
}

function failure(code) {
  return Object.assign(new Error(`${code}: as the test wants`), { code });
}

/** Replaces a function of fs; what promisify() knows of it stays. */
function replace(name, make) {
  const old = fs[name];
  fs[name] = Object.defineProperties(make(old), Object.getOwnPropertyDescriptors(old));
}

replace('open', (open) => (path, ...rest) => {
  const callback = rest.pop();
  open(path, ...rest, (error, fd) => {
    if (error === null && TIER.test(path)) ofTier.add(fd);
    callback(error, fd);
  });
});
replace('close', (close) => (fd, callback) => {
  ofTier.delete(fd);
  close(fd, callback);
});
replace('read', (read) => (fd, ...rest) => {
  const now = ofTier.has(fd) ? fault() : '';
  if (now === 'broken') setImmediate(rest.at(-1), failure('EIO'), 0);
  else if (now === 'slow') read(pipe, Buffer.alloc(1), 0, 1, null, () => read(fd, ...rest));
  else read(fd, ...rest);
});
replace('writeFileSync', (write) => (path, ...rest) => {
  if (LOCK.test(path) && fault() === 'full') throw failure('ENOSPC');
  write(path, ...rest);
});
replace('fdatasync', (sync) => (fd, callback) => {
  if (ofTier.has(fd) && fault() === 'unsynced')
    read(pipe, Buffer.alloc(1), 0, 1, null, () => sync(fd, callback));
  else sync(fd, callback);
});
replace('write', (write) => (fd, ...rest) => {
  if (ofTier.has(fd) && fault() === 'full') setImmediate(rest.at(-1), failure('ENOSPC'), 0);
  else write(fd, ...rest);
});
syncBuiltinESMExports();
