// --acme and the options beside it.
import { expect, it } from 'vitest';
import { parseOptions } from '../../../../daemon/manager/options/options.ts';

function acme(...args: string[]): unknown {
  const request = parseOptions(['-b', '127.0.0.1:80', ...args]);
  return request.kind === 'run' ? request.options.acme : request;
}

it('names an authority, and the account there', () => {
  expect(acme()).toBeNull();
  expect(acme('--acme', 'ops@a.example')).toEqual({
    email: 'ops@a.example',
    directory: 'https://acme-v02.api.letsencrypt.org/directory',
    eab: null,
    ca: null,
  });
  expect(
    acme(
      '--acme',
      'mailto:ops@a.example',
      '--acme-directory',
      'staging',
      '--acme-eab',
      '@/etc/eab',
      '--acme-ca',
      'ca.pem',
    ),
  ).toEqual({
    email: 'ops@a.example',
    directory: 'https://acme-staging-v02.api.letsencrypt.org/directory',
    eab: { file: '/etc/eab' },
    ca: 'ca.pem',
  });
  expect(
    acme(
      '--acme',
      'a@b',
      '--acme-eab',
      'kid:with:zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
    ),
  ).toMatchObject({
    eab: { kid: 'kid:with', key: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' },
  });
});

it.each([
  [['--acme-directory', 'staging'], '--acme-directory makes no sense without --acme'],
  [['--acme', 'ops'], '--acme: "ops" is not a mail address'],
  [['--acme', 'a@b,c@d'], '--acme: "a@b,c@d" is not a mail address'],
  [['--acme', 'a@b', '--acme', 'a@b'], 'Only one --acme can be specified'],
  [
    ['--acme', 'a@b', '--acme-directory', 'http://ca.example/'],
    '--acme-directory: "http://ca.example/" is neither staging nor a URL with https:// (http:// only on this machine)',
  ],
  [
    ['--acme', 'a@b', '--acme-eab', 'verysecret'],
    /^--acme-eab is not kid:key, with the key in base64url[^"]*$/,
  ],
])('%j is refused', (args, message) => {
  expect(() => acme(...args)).toThrow(message);
});
