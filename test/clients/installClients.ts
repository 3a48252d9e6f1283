/** Installs the clients by their own lock file, once, into node_modules/.cache; several test files may ask at once. */
import { installProject } from '../support/installProject';

/** The folder whose `node_modules` has the clients. */
export function installClients(): Promise<string> {
  return installProject(__dirname, 'clients');
}
