/** Installs the clients from their own lock file, once, into node_modules/.cache. Parallel test files may call this. */
import { installProject } from '../support/server/installProject';

/** The folder whose `node_modules` has the clients. */
export function installClients(): Promise<string> {
  return installProject(__dirname, 'clients');
}
