// A nats-server whose users come with signed credentials (JWT): an operator, an account with JetStream and one of the system,
// made for a test. The server trusts the operator, and knows the accounts from its configuration.
import { writeFileSync } from 'node:fs';
import { nkeys } from '@nats-io/transport-node';
import type { Sandbox } from './processes.ts';

const NO_LIMIT = { subs: -1, data: -1, payload: -1 };
const ACCOUNT = { ...NO_LIMIT, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const JETSTREAM = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

interface KeyPair {
  getPublicKey(): string;
  getSeed(): Uint8Array;
  sign(data: Uint8Array): Uint8Array;
}

/** Claims with their signatures. */
function token(signer: KeyPair, subject: KeyPair, name: string, nats: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: name,
    iat: Math.floor(Date.now() / 1000),
    iss: signer.getPublicKey(),
    sub: subject.getPublicKey(),
    name,
    nats,
  };
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
  return `${text}.${Buffer.from(signer.sign(Buffer.from(text))).toString('base64url')}`;
}

/** The server's configuration, and creds files: of a user of the account, and of an untrusted one. */
export function makeAccounts(box: Sandbox): {
  config: string;
  creds: string;
  stranger: string;
  secrets: string[];
} {
  const operator = nkeys.createOperator();
  const [system, account, other] = [nkeys.createAccount(), nkeys.createAccount(), nkeys.createAccount()];
  const accountOf = (pair: KeyPair, name: string, limits: object): string =>
    token(operator, pair, name, { type: 'account', version: 2, limits });
  const config = box.path('operator');
  writeFileSync(
    config,
    `operator: ${token(operator, operator, 'op', { type: 'operator', version: 2, system_account: system.getPublicKey() })}
     system_account: ${system.getPublicKey()}
     resolver: MEMORY
     resolver_preload: {
       ${system.getPublicKey()}: ${accountOf(system, 'sys', ACCOUNT)}
       ${account.getPublicKey()}: ${accountOf(account, 'shop', { ...ACCOUNT, ...JETSTREAM })}
     }`,
  );
  const secrets: string[] = [];
  const credsOf = (signer: KeyPair): string => {
    const user = nkeys.createUser();
    const jwt = token(signer, user, 'web', { type: 'user', version: 2, ...NO_LIMIT });
    const seed = Buffer.from(user.getSeed()).toString();
    secrets.push(jwt, seed);
    const path = box.path('creds');
    const block = (name: string, text: string): string =>
      `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
    writeFileSync(path, `${block('NATS USER JWT', jwt)}\n${block('USER NKEY SEED', seed)}`, { mode: 0o600 });
    return path;
  };
  return { config, creds: credsOf(account), stranger: credsOf(other), secrets };
}
