// The TLS options: --cert, -A and --insecure-tls. Pure: the files that they name are read when the manager is created.

import { resolve } from 'node:path';
import { autoNames } from '../tls/auto-names.ts';
import { OptionError } from './option-error.ts';

/** TLS settings of the command line; absolute paths. */
export interface TlsOptions {
  /** --cert FILE[,key=FILE]; without a key it is in the file of the certificate. */
  certificates: { cert: string; key: string | null }[];
  /** --cert auto:NAME[,NAME...]: names of certificates to obtain from an authority. */
  auto: (readonly string[])[];
  /** -A. */
  file: string | null;
  /** --insecure-tls: TLS 1.0 and 1.1 may be named in the file. */
  insecure: boolean;
}

/** Throws OptionError. */
export function setTlsOption(o: TlsOptions, name: 'A' | 'cert' | 'insecure-tls', value: string): void {
  switch (name) {
    case 'A':
      if (o.file !== null) throw new OptionError('Only one -A allowed');
      if (value === '') throw new OptionError('-A needs the name of a file');
      o.file = resolve(value);
      return;
    case 'cert':
      setCertificate(o, value);
      return;
    case 'insecure-tls':
      o.insecure = true;
  }
}

function setCertificate(o: TlsOptions, value: string): void {
  if (value.startsWith('auto:')) {
    const words = value
      .slice('auto:'.length)
      .split(',')
      .filter((word) => word !== '');
    const names = autoNames(words);
    if (typeof names === 'string')
      throw new OptionError(`--cert: ${names}: write --cert auto:a.example,b.example`);
    o.auto.push(names);
    return;
  }
  const { cert = '', key } = /^(?<cert>.*?)(?:,key=(?<key>.*))?$/s.exec(value)?.groups ?? {};
  if (cert === '' || key === '') throw new OptionError(`--cert: "${value}" is not FILE or FILE,key=FILE`);
  o.certificates.push({ cert: resolve(cert), key: key === undefined ? null : resolve(key) });
}
