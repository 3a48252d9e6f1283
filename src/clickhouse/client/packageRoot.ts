/** Finds the project's root folder, which has the SQL files and contract artifacts. Works in the sources and
 * in dist. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { AppError } from '../../errors';

/** The nearest parent folder whose package.json has the name candlehouse. */
export function findPackageRoot(from: string = __dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file) && /"name":\s*"candlehouse"/.test(readFileSync(file, 'utf8'))) return folder;
    if (folder === dirname(folder))
      throw new AppError('bad_config', `no package.json of candlehouse in ${from} or a folder above`);
  }
}
