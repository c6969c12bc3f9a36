import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CertificateStore, type LoadedTls } from '../../../../daemon/manager/tls/certificate-store.ts';
import type { FrontendPlan } from '../../../../daemon/manager/tls/frontend-plan.ts';
import { type MadeCertificate, makeCertificate } from '../../../harness/made-certificates.ts';

let dir: string;
let a: MadeCertificate;
let b: MadeCertificate;
/** Everything that was to become active. */
let applied: LoadedTls[];
let refusal: string | null;
let store: CertificateStore;

const WEB: FrontendPlan = {
  name: 'web',
  policy: {},
  sniNomatchAbort: false,
  matchGlobalCerts: null,
  hasOwn: false,
  clientVerify: 'none',
  clientCa: null,
  clientCaAt: null,
  at: 'listener web',
};

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-certs-'));
  a = makeCertificate(dir, 'a.example');
  b = makeCertificate(dir, 'b.example');
});
afterAll(() => rmSync(dir, { recursive: true }));
beforeEach(() => {
  applied = [];
  refusal = null;
  store = new CertificateStore([WEB], async (next) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (refusal === null) applied.push(next);
    return refusal;
  });
});

const from = (cert: string, id: string | null = null, frontend: string | null = null) => ({
  id,
  frontend,
  files: { cert, key: null, ocsp: null },
  policy: {},
  isDefault: false,
});
const shown = (): string[] => store.list().map(({ status, entry }) => `${entry.request.id} ${status}`);
const active = (): string[] => store.loaded.certificates.map(({ request }) => request.id);

it('gives ids that are free', async () => {
  await store.start([from(a.pem), from(b.pem, 'cert0'), from(b.pem)]);
  expect(shown()).toEqual(['cert1 active', 'cert0 active', 'cert2 active']);
  expect((await store.stage(from(a.pem))).request.id).toBe('cert3');
  await expect(store.start([from(a.pem, 'x'), from(b.pem, 'x')])).rejects.toThrow('Id: "x" already exists');
});

it('makes staged changes active together', async () => {
  await store.start([from(a.pem, 'one')]);
  await store.stage(from(b.pem, 'two', 'web'));
  expect(await store.discard('one')).toBe(true);
  expect(await store.discard('none')).toBe(false);
  expect(shown()).toEqual(['one discarded', 'two staged']);
  expect(applied).toEqual([]);
  await store.commit();
  expect(shown()).toEqual(['two active']);
  expect(applied.map(({ certificates }) => certificates.map(({ request }) => request.id))).toEqual([['two']]);
  // An id may be used again in the commit that drops it.
  await store.discard('two');
  await store.stage(from(a.pem, 'two'));
  await expect(store.stage(from(a.pem, 'two'))).rejects.toThrow('Id: "two" already exists');
  await store.commit();
  expect(store.loaded.certificates[0]?.certificate.names).toEqual(['a.example']);
});

it('forgets staged changes', async () => {
  await store.start([from(a.pem, 'one')]);
  await store.stage(from(b.pem, 'two'));
  await store.stage(from(b.pem, 'three'));
  await store.discard('one');
  await store.discard('three');
  expect(shown()).toEqual(['one discarded', 'two staged']);
  await store.rollback();
  expect(shown()).toEqual(['one active']);
  expect(store.hasStaged).toBe(false);
});

it('changes nothing when the worker refuses', async () => {
  await store.start([from(a.pem, 'one')]);
  await store.stage(from(b.pem, 'two'));
  refusal = 'no';
  await expect(store.commit()).rejects.toThrow('no');
  expect(shown()).toEqual(['one active', 'two staged']);
  await expect(store.reload()).rejects.toThrow('no');
  refusal = null;
  await store.commit();
  expect(active()).toEqual(['one', 'two']);
});

it('stages nothing that is bad', async () => {
  await store.start([]);
  await expect(store.stage(from(a.cert))).rejects.toThrow('it has no private key');
  await expect(store.stage(from(a.pem, '-x'))).rejects.toThrow('"-x" cannot be an id');
  await expect(store.stage(from(a.pem, null, 'wob'))).rejects.toThrow(
    'There is no TLS listener wob: those with TLS are web',
  );
  expect(store.hasStaged).toBe(false);
});

it('reads all files again, or keeps all as they are', async () => {
  const one = join(dir, 'one.pem');
  const two = join(dir, 'two.pem');
  copyFileSync(a.pem, one);
  copyFileSync(b.pem, two);
  await store.start([from(one, 'one'), from(two, 'two')]);
  await store.stage(from(b.pem, 'three'));
  expect(await store.reload()).toEqual([]);
  copyFileSync(b.pem, one);
  writeFileSync(two, 'junk');
  await expect(store.reload()).rejects.toThrow(`${two}: no certificate but no PEM at all`);
  expect(store.loaded.certificates[0]?.certificate.names).toEqual(['a.example']);
  copyFileSync(b.pem, two);
  expect((await store.reload()).map(({ request }) => request.id)).toEqual(['one']);
  expect(store.loaded.certificates[0]?.certificate.names).toEqual(['b.example']);
  expect(shown()).toEqual(['one active', 'two active', 'three staged']);
});

it('takes certificates of an authority beside the others', async () => {
  await store.start([from(a.pem, 'one')]);
  await store.stage(from(b.pem, 'two'));
  const issued = (made: MadeCertificate, names: string[]) => ({
    id: 'acme:x',
    frontend: null,
    names,
    chain: readFileSync(made.cert, 'utf8'),
    key: readFileSync(made.key, 'utf8'),
  });
  await store.install(issued(a, ['a.example']));
  expect(shown()).toEqual(['one active', 'acme:x active', 'two staged']);
  await expect(store.install(issued(b, ['x.example']))).rejects.toThrow('it is not for x.example');
  await store.install(issued(b, ['b.example']));
  expect(active()).toEqual(['one', 'acme:x']);
  expect(store.loaded.certificates[1]?.certificate.names).toEqual(['b.example']);
  await store.reload();
  expect(store.loaded.certificates[1]?.certificate.names).toEqual(['b.example']);
  await store.discard('acme:x');
  await store.commit();
  expect(active()).toEqual(['one', 'two']);
});

it('does one thing after the other', async () => {
  await store.start([from(a.pem, 'one')]);
  await store.stage(from(b.pem, 'two'));
  const committing = store.commit();
  const staging = store.stage(from(b.pem, 'three'));
  await Promise.all([committing, staging]);
  expect(shown()).toEqual(['one active', 'two active', 'three staged']);
});

it('is bounded', async () => {
  const many = Array.from({ length: 1001 }, () => from(a.pem));
  await expect(store.start(many)).rejects.toThrow('There would be 1001 certificates, of at most 1000');
});
