/** Installs the clients from their own lock files, once, into .cache. Parallel test files may call this. */
import { join } from 'node:path';

import { installProject } from '../../support/server/installProject';

const NODE_MIN = 22;

/** The folder whose `node_modules` has the clients. */
export function installClients(): Promise<string> {
  return installProject(__dirname, 'clients');
}

/**
 * Hardhat 3 needs Node 22 or later. `node` is the path of a suitable Node: the running one, or one that is installed
 * with the clients.
 */
export async function installHardhat3(
  clients: string,
): Promise<{ readonly folder: string; readonly node: string }> {
  const isNew = Number(process.versions.node.split('.')[0]) >= NODE_MIN;
  const own = join(clients, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const node = isNew ? process.execPath : own;
  return { folder: await installProject(join(__dirname, 'hardhat3'), 'hardhat3', node), node };
}
