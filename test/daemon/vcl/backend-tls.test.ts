// The `.ssl` attributes of backends: what they mean together, what is refused and where, and that no key is shown.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { renderProgram } from '../../../daemon/vcl/compile.ts';
import { CertificateMaker } from '../../harness/origin-certificates.ts';

const directory = mkdtempSync(join(tmpdir(), 'proxyd-backend-tls-'));
const make = new CertificateMaker(directory);
const root = make.authority('root');
const client = make.issue('client', { by: root });
const old = make.issue('old', { by: root, from: -5, until: -2 });
const ca = `.ssl_ca = "${root.certFile}";`;

afterAll(() => rmSync(directory, { recursive: true }));

function declare(fields: string, options: Parameters<typeof compile>[1] = {}, text = '') {
  const source = { name: join(directory, 'm.vcl'), text: `vcl 4.1;\nbackend b { ${fields} }\n${text}` };
  const result = compile(source, { resolveHost: () => ['192.0.2.1'], ...options });
  return {
    program: result.program,
    tls: result.program?.backends[0]?.tls,
    errors: result.errors?.map((e) => e.message) ?? [],
    hints: result.errors?.map((e) => e.hint ?? '') ?? [],
    places: result.errors?.map((e) => `${e.line}:${e.column}`) ?? [],
    warnings: result.warnings.map((w) => w.message),
  };
}

const HOST = '.host = "a.example";';

it('is off unless the program says otherwise', () => {
  expect(declare(HOST).tls).toBeUndefined();
  expect(declare(`${HOST} .ssl = 0; .ssl_noverify = 1;`)).toMatchObject({ tls: undefined, errors: [] });
});

it('verifies chain and name and asks for the name', () => {
  const { tls, program, errors } = declare(`${HOST} .ssl = 1; ${ca}`);
  expect(errors).toEqual([]);
  expect(tls).toMatchObject({
    name: 'a.example',
    sni: true,
    verifyPeer: true,
    verifyHost: true,
    systemCa: false,
    cert: null,
    key: null,
  });
  expect(program?.pem?.[tls?.ca as string]).toBe(root.cert);
});

it('trusts the authorities of the system', () => {
  const { SSL_CERT_FILE: before } = process.env;
  try {
    process.env.SSL_CERT_FILE = root.certFile;
    const { tls, program } = declare(`${HOST} .ssl = true;`);
    expect(tls?.systemCa).toBe(true);
    expect(program?.pem?.[tls?.ca as string]).toBe(root.cert);
    process.env.SSL_CERT_FILE = join(directory, 'absent');
    expect(declare(`${HOST} .ssl = 1;`)).toMatchObject({
      errors: [`Cannot use ${directory}/absent: No such file or directory`],
      hints: [expect.stringContaining('ca-certificates')],
    });
    expect(declare(`${HOST} .ssl = 1; .ssl_noverify = 1;`).tls).toMatchObject({
      verifyPeer: false,
      verifyHost: false,
      ca: null,
    });
  } finally {
    if (before === undefined) delete process.env.SSL_CERT_FILE;
    else process.env.SSL_CERT_FILE = before;
  }
});

it.each([
  ['.host = "A.Example";', 'a.example', true],
  ['.host = "a.example:8443";', 'a.example', true],
  ['.host = "192.0.2.1";', '192.0.2.1', false],
  ['.host = "[2001:db8::1]:8443";', '2001:db8::1', false],
  ['.host = "192.0.2.1"; .host_header = "b.example:81";', 'b.example', true],
  ['.host = "192.0.2.1"; .host_header = "b.example"; .ssl_name = "c.example.";', 'c.example', true],
  ['.host = "a.example"; .ssl_name = "bücher.example";', 'xn--bcher-kva.example', true],
  ['.host = "a.example"; .ssl_nosni = 1;', 'a.example', false],
  ['.host = "a.example"; .ssl_sni = 0;', 'a.example', false],
  ['.host = "a.example"; .ssl_sni = 0; .ssl_nosni = 1;', 'a.example', false],
])('%s: name %s', (fields, name, sni) => {
  expect(declare(`${fields} .ssl = 1; ${ca}`)).toMatchObject({ tls: { name, sni }, errors: [] });
});

it.each([
  ['.ssl_verify_peer = 0;', false, false],
  ['.ssl_verify_peer = 0; .ssl_verify_host = 1;', false, true],
  ['.ssl_noverify = true;', false, false],
  ['.ssl_noverify = 1; .ssl_verify_peer = 0;', false, false],
] as const)('%s', (fields, verifyPeer, verifyHost) => {
  expect(declare(`${HOST} .ssl = 1; ${fields}`).tls).toMatchObject({ verifyPeer, verifyHost, ca: null });
});

it('verifies the chain without the name', () => {
  expect(declare(`${HOST} .ssl = 1; .ssl_verify_host = 0; ${ca}`).tls).toMatchObject({
    verifyPeer: true,
    verifyHost: false,
  });
});

describe('is refused', () => {
  it.each([
    ['.ssl_sni = 1;', "'.ssl_sni' without '.ssl = 1' has no effect"],
    ['.ssl_ca = "x";', "'.ssl_ca' without '.ssl = 1' has no effect"],
    ['.ssl = 1; .ssl_nosni = 1; .ssl_sni = 1;', "'.ssl_nosni' contradicts '.ssl_sni'"],
    ['.ssl = 1; .ssl_noverify = 1; .ssl_verify_host = 1;', "'.ssl_noverify' contradicts '.ssl_verify_host'"],
    ['.ssl = 1; .ssl_noverify = 1; .ssl_verify_peer = 1;', "'.ssl_noverify' contradicts '.ssl_verify_peer'"],
    ['.ssl = 2;', "Field 'ssl' takes 1 or 0"],
    ['.ssl = "yes";', "Field 'ssl' takes 1 or 0"],
    ['.ssl = 1; .ssl_noverify = 1; .ssl_ca = "x";', "'.ssl_ca' has no effect"],
    ['.ssl = 1; .ssl_noverify = 1; .ssl_key = "x";', "'.ssl_key' needs '.ssl_cert'"],
    ['.ssl = 1; .ssl_noverify = 1; .ssl_name = "a b";', "'a b' is neither a host name nor an address"],
    ['.ssl = 1; .ssl_name = "";', 'is neither a host name nor an address'],
    ['.ssl = 1; .ssl_verfy_host = 1;', "Unknown field: 'ssl_verfy_host'"],
  ])('%s', (fields, message) => {
    expect(declare(`${HOST} ${fields}`).errors.join('\n')).toContain(message);
  });

  it('over a Unix socket', () => {
    expect(declare('.path = "/run/x"; .ssl = 1;').errors).toEqual([
      'TLS is spoken over TCP: .ssl and .path exclude each other',
    ]);
  });

  it.each([
    ['absent.pem', 'No such file or directory', undefined],
    ['empty.pem', 'there is no certificate in it', ''],
    ['text.pem', 'there is no certificate in it', 'hello'],
    ['key.pem', 'there is no certificate in it', client.key],
    [
      'damaged.pem',
      'certificate 2 of 2 in it is damaged',
      `${root.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    ],
  ])('a file of authorities: %s', (name, why, text) => {
    const path = text === undefined ? join(directory, name) : make.file(name, text);
    const { errors, places } = declare(`${HOST} .ssl = 1; .ssl_ca = "${path}";`);
    expect(errors).toEqual([expect.stringContaining(`Cannot use ${path}: ${why}`)]);
    expect(places).toEqual(['2:54']);
  });

  it('a directory, a device and a pipe, without reading them', () => {
    for (const path of [directory, '/dev/zero'])
      expect(declare(`${HOST} .ssl = 1; .ssl_ca = "${path}";`).errors).toEqual([
        expect.stringMatching(/not a regular file|Is a directory/),
      ]);
  });

  it('a client certificate without its key', () => {
    const use = (cert: string, key?: string) =>
      declare(
        `${HOST} .ssl = 1; ${ca} .ssl_cert = "${cert}";${key === undefined ? '' : ` .ssl_key = "${key}";`}`,
      ).errors.join('\n');
    expect(use(client.certFile)).toContain('there is no key in it');
    expect(use(client.certFile, root.keyFile)).toContain(
      `Cannot use ${root.keyFile}: the key in it is not that of the certificate (CN=client)`,
    );
    expect(use(client.certFile, join(directory, 'none'))).toContain('No such file');
    const broken = client.key.replace(/\n[^\n]+\n/, '\nAAAA\n');
    expect(use(client.certFile, make.file('broken.key', broken, 0o600))).toContain('damaged');
    const open = make.file('open.key', client.key);
    chmodSync(open, 0o644);
    expect(use(client.certFile, open)).toContain('every user of this machine can read the key');
    const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n';
    expect(use(client.certFile, make.file('locked.key', locked, 0o600))).toContain('passphrase');
  });
});

it('takes the key from its file, or from that of the certificate', () => {
  const apart = declare(
    `${HOST} .ssl = 1; ${ca} .ssl_cert = "${client.certFile}"; .ssl_key = "${client.keyFile}";`,
  );
  expect(apart.errors).toEqual([]);
  const both = make.file('both.pem', client.key + client.cert + root.cert, 0o600);
  const together = declare(`${HOST} .ssl = 1; ${ca} .ssl_cert = "${both}";`);
  const { tls, program } = together;
  expect(tls?.key).toBe(apart.tls?.key);
  expect(program?.pem?.[tls?.key as string]).toBe(client.key);
  expect(program?.pem?.[tls?.cert as string]).toBe(client.cert + root.cert);
});

it('warns of a client certificate that has expired', () => {
  const { warnings, errors } = declare(
    `${HOST} .ssl = 1; ${ca} .ssl_cert = "${old.certFile}"; .ssl_key = "${old.keyFile}";`,
  );
  expect([errors, warnings]).toEqual([[], [expect.stringContaining('was valid until')]]);
});

it('finds files as include does', () => {
  expect(declare(`${HOST} .ssl = 1; .ssl_ca = "./root.crt";`).errors).toEqual([]);
  expect(declare(`${HOST} .ssl = 1; .ssl_ca = "root.crt";`, { vclPath: ['/', directory] }).errors).toEqual(
    [],
  );
  expect(declare(`${HOST} .ssl = 1; ${ca}`, { unsafePath: false }).errors[0]).toContain('root.crt');
});

it('only warns of missing files when the program is for another machine', () => {
  const { errors, warnings } = declare(`${HOST} .ssl = 1; .ssl_ca = "/no/where";`, { isOffline: true });
  expect([errors, warnings]).toEqual([[], ['Cannot use /no/where: No such file or directory']]);
});

it('shows no key', () => {
  const { program } = declare(
    `${HOST} .ssl = 1; ${ca} .ssl_cert = "${client.certFile}"; .ssl_key = "${client.keyFile}";`,
  );
  if (program === undefined) throw new Error('not compiled');
  const secret = (client.key.split('\n')[1] as string).slice(8, 40);
  expect(JSON.stringify(program.pem)).toContain(secret);
  expect(renderProgram(program)).not.toContain(secret);
  expect(JSON.stringify({ ...program, pem: undefined })).not.toContain(secret);
});
