// The console's files on this machine: reading, writing, path completion, and the program check by the daemon's own
// executable.

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { inPackage } from '../../protocol/files/package-files.ts';
import { systemText } from '../../protocol/system-text.ts';
import type { HostFiles, LintFinding } from '../model/ui/console-host.ts';

const MOST_PATHS = 200;
const LINT_MS = 20_000;
/** Name prefix of folders with temporary copies. */
const COPIES = 'proxyadm-edit-';

export class NodeFiles implements HostFiles {
  private readonly daemon: string;

  /** `daemon` is the compiled proxyd, which checks programs. */
  constructor(daemon: string = inPackage('dist/daemon/proxyd.js')) {
    this.daemon = daemon;
  }

  async read(path: string): Promise<string> {
    try {
      return await readFile(this.absolute(path), 'utf8');
    } catch (cause) {
      throw new Error(systemText(cause), { cause });
    }
  }

  async write(path: string, text: string): Promise<void> {
    try {
      // Exports may contain cookies from the log.
      writeOwn(this.absolute(path), text, 0o600);
    } catch (cause) {
      throw new Error(systemText(cause), { cause });
    }
  }

  async copy(name: string, text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), COPIES));
    const path = join(folder, name.replace(/[^\w.-]/g, '_'));
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  async remove(path: string): Promise<void> {
    // The folder that copy() created, with any files that an editor left there; never another.
    const folder = dirname(path);
    if (folder.startsWith(join(tmpdir(), COPIES))) await rm(folder, { recursive: true, force: true });
  }

  exists(path: string): boolean {
    return existsSync(this.absolute(path));
  }

  complete(prefix: string): string[] {
    const folder = prefix.endsWith('/') ? prefix : prefix.includes('/') ? `${dirname(prefix)}/` : '';
    const typed = prefix.slice(prefix.lastIndexOf('/') + 1);
    try {
      return readdirSync(this.absolute(folder === '' ? '.' : folder))
        .filter((name) => name.startsWith(typed) && (typed.startsWith('.') || !name.startsWith('.')))
        .sort()
        .slice(0, MOST_PATHS)
        .map((name) => {
          const path = `${folder}${name}`;
          return isFolder(this.absolute(path)) ? `${path}/` : path;
        });
    } catch {
      return [];
    }
  }

  absolute(path: string): string {
    return resolve(path.replace(/^~(?=\/|$)/, homedir()));
  }

  lint(path: string): Promise<LintFinding[]> {
    const args = [this.daemon, '--lint', '-j', this.absolute(path)];
    return new Promise((settle, reject) => {
      execFile(process.execPath, args, { timeout: LINT_MS, maxBuffer: 8 << 20 }, (_error, stdout, stderr) => {
        try {
          const report = JSON.parse(stdout) as { findings: LintFinding[] };
          settle(report.findings);
        } catch {
          reject(new Error(stderr.trim() === '' ? 'no answer from proxyd --lint' : stderr.trim()));
        }
      });
    });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
