// A proxy with TLS listeners and certificates made for it.

import { writeFileSync } from 'node:fs';
import { type CertificateWish, type Issued, issue } from './certificates.ts';
import type { Sandbox } from './processes.ts';
import { type ProxyOptions, type RunningProxy, startProxy } from './proxy.ts';

/** Writes certificate and key into one file, as operators do; the path. */
export function pemFile(box: Sandbox, { cert, key }: Issued, file = box.path('pem')): string {
  writeFileSync(file, cert + key, { mode: 0o600 });
  return file;
}

/** Ports of a proxy's listeners, by name. */
export async function ports(proxy: RunningProxy): Promise<Record<string, number>> {
  const { stdout } = await proxy.adm('listen.list');
  return Object.fromEntries(
    stdout.split('\n').flatMap((line) => {
      const [, name, port] = /^(\S+) \S+ (\d+)/.exec(line) ?? [];
      return name === undefined ? [] : [[name, Number(port)]];
    }),
  );
}

export interface TlsProxy {
  readonly proxy: RunningProxy;
  /** Of the listener `tls`. */
  readonly port: number;
}

/** Starts a proxy with a listener `tls` that presents a certificate for each of the wishes. */
export async function startTlsProxy(
  box: Sandbox,
  options: ProxyOptions,
  wishes: readonly CertificateWish[] = [{ names: ['a.example'] }],
): Promise<TlsProxy> {
  const certificates = wishes.flatMap((wish) => ['--cert', pemFile(box, issue(wish))]);
  const args = ['-a', 'tls=127.0.0.1:0,HTTPS', ...certificates, ...(options.args ?? [])];
  const proxy = await startProxy(box, { ...options, args });
  return { proxy, port: (await ports(proxy)).tls as number };
}
