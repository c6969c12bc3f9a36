// After tsc: copies what tsc does not (VCL sources) and makes the bins executable.
import { chmodSync, cpSync, existsSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
for (const file of ['daemon/vcl/builtin.vcl']) {
  if (existsSync(new URL(file, root))) cpSync(new URL(file, root), new URL(`dist/${file}`, root));
}
const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
for (const target of Object.values(bin)) {
  if (existsSync(new URL(target, root))) chmodSync(new URL(target, root), 0o755);
}
