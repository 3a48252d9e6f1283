/** Every promise of SECURITY.md names tests that exist. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, textOf } from '../support/documents';

const promises = textOf('SECURITY.md')
  .split('\n')
  .filter((line) => line.includes('`test/'));

test('each test that SECURITY.md names exists under this name', () => {
  expect(promises.length).toBeGreaterThan(15);
  for (const line of promises) {
    for (const [, path = '', names = ''] of line.matchAll(/`(test\/[\w./]+)`(?:: ("[^;|]*"))?/g)) {
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
      for (const [, name = ''] of names.matchAll(/"([^"]+)"/g)) {
        expect([path, name, textOf(path).includes(name)]).toEqual([path, name, true]);
      }
    }
  }
});
