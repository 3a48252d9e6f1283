/** Input and result of a peer's run, and helpers that all peers share. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';

export interface PeerTask {
  readonly rpcUrl: string;
  /** Factory of the pairs whose events the peer must store. */
  readonly factory: string;
  /** Number of the last block, which is final. */
  readonly to: number;
}

export interface PeerRows {
  readonly swaps: number;
  readonly syncs: number;
}

export interface PeerRun {
  readonly name: string;
  readonly rows: PeerRows;
  /** Time of the last commit, unix ms. */
  readonly endedAt: number;
}

/** The project folder of a peer. */
export const projectOf = (peer: string): string => join(findPackageRoot(), 'scripts', 'bench', 'peers', peer);

/** Version of an installed package. */
export function versionOf(installed: string, name: string): string {
  const file = join(installed, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Runs in a temporary copy of the project with its installed packages, so a run leaves nothing behind. */
export async function inCopy<T>(
  project: string,
  installed: string,
  run: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-peer-'));
  try {
    cpSync(project, folder, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
    symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'), 'junction');
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
