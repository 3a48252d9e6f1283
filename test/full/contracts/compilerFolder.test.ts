/** A compiler of a folder or mirror that the operator names is used only if it has the hash that list.json gives. */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openCompilerFolder, openCompilerMirror } from '../../../src/contracts/verify/compilerFolder';
import { findCompilers } from '../../../src/contracts/verify/compilers';
import { listen, type Listening } from '../../support/server/listen';

const SOLJSON = join(__dirname, '../../../node_modules/solc-0.7.6/soljson.js');
const NAME = 'soljson-v0.7.6+commit.7338295f.js';
const VERSION = '0.7.6+commit.7338295f';
const INPUT = {
  language: 'Solidity',
  sources: { 'a.sol': { content: 'contract A {}' } },
  settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
};
const BOUNDS = { niceness: 0 };

let home: string;
let folder: string;
let empty: string;
const servers: Listening[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'candlehouse-compilers-'));
  folder = join(home, 'bin');
  empty = join(home, 'empty');
  mkdirSync(folder);
  mkdirSync(empty);
  copyFileSync(SOLJSON, join(folder, NAME));
  writeList({});
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(home, { recursive: true });
});

/** Writes list.json with a nightly build and the compiler. */
function writeList(change: Record<string, unknown>): void {
  const sha256 = `0x${createHash('sha256')
    .update(readFileSync(join(folder, NAME)))
    .digest('hex')}`;
  const build = {
    path: NAME,
    version: '0.7.6',
    build: 'commit.7338295f',
    longVersion: VERSION,
    sha256,
    ...change,
  };
  const nightly = {
    ...build,
    path: 'soljson-v0.7.7-nightly.js',
    version: '0.7.7',
    prerelease: 'nightly.2021.1.1',
    longVersion: '0.7.7-nightly.2021.1.1+commit.00000000',
  };
  writeFileSync(join(folder, 'list.json'), JSON.stringify({ builds: [nightly, build], releases: {} }));
}

/** Serves the folder. `asked` lists the requested paths. */
async function serve(): Promise<Listening & { readonly asked: string[] }> {
  const asked: string[] = [];
  const listening = await listen(
    createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? '');
      asked.push(path);
      response.end(readFileSync(join(folder, path.replace('/bin/', ''))));
    }),
  );
  servers.push(listening);
  return { ...listening, asked };
}

test('a compiler of a folder compiles, and the list names its releases', async () => {
  const compilers = findCompilers(BOUNDS, empty, [openCompilerFolder(folder)]);
  expect(await compilers.listVersions()).toEqual(['0.7.6']);
  for (const version of [`v${VERSION}`, '0.7.6']) {
    const answer = await compilers.compile(version, INPUT);
    expect(answer).toMatchObject({ version: VERSION, output: { contracts: { 'a.sol': { A: {} } } } });
  }
  await expect(compilers.compile('0.7.6+commit.11111111', INPUT)).rejects.toMatchObject({
    code: 'bad_request',
    fault: 'invalid_compiler_version',
  });
});

test('a file with another hash than the list is refused', async () => {
  writeList({ sha256: `0x${'0'.repeat(64)}` });
  const compilers = findCompilers(BOUNDS, empty, [openCompilerFolder(folder)]);
  await expect(compilers.compile('0.7.6', INPUT)).rejects.toThrow(/its SHA-256 differs from list\.json/);
});

test('a list of compilers with a path outside of its folder is not used', async () => {
  for (const path of ['../soljson.js', '/etc/passwd.js', 'a/b.js']) {
    writeList({ path });
    const source = openCompilerFolder(folder);
    expect(await source.listVersions()).toEqual([]);
    await expect(source.find('0.7.6', null)).rejects.toMatchObject({ code: 'unavailable' });
  }
});

test('a compiler of a mirror is downloaded once, also for a later process', async () => {
  const { url, asked } = await serve();
  const kept = join(home, 'kept');
  const compile = () =>
    findCompilers(BOUNDS, empty, [openCompilerMirror(`${url}/bin`, kept)]).compile('0.7.6', INPUT);
  expect(await compile()).toMatchObject({ version: VERSION });
  expect(await compile()).toMatchObject({ version: VERSION });
  expect(asked.filter((path) => path.endsWith('.js'))).toEqual([`/bin/${NAME}`]);
  // A changed file is downloaded again.
  const [file = ''] = readdirSync(kept);
  writeFileSync(join(kept, file), 'module.exports = {};');
  expect(await compile()).toMatchObject({ version: VERSION });
  expect(asked.filter((path) => path.endsWith('.js'))).toHaveLength(2);
});

test('a mirror with a wrong file, another origin or no answer gives no compiler', async () => {
  const { url } = await serve();
  const kept = join(home, 'kept');
  const find = (mirror: string) => openCompilerMirror(mirror, kept).find('0.7.6', null);
  writeFileSync(join(folder, NAME), 'module.exports = {};');
  await expect(find(`${url}/bin`)).rejects.toThrow(/SHA-256 differs/);
  const away = await listen(
    createServer((_, response) => response.writeHead(302, { location: `${url}/bin/list.json` }).end()),
  );
  servers.push(away);
  await expect(find(away.url)).rejects.toThrow(/allowed: redirects to the same origin/);
  await away.close();
  await expect(find(away.url)).rejects.toMatchObject({ code: 'unavailable' });
  expect(() => readdirSync(kept)).toThrow(/ENOENT/);
});

test('an npm package needs only its package.json and soljson.js, as in the Docker image', async () => {
  const place = join(empty, 'node_modules/solc-0.7.6');
  mkdirSync(place, { recursive: true });
  for (const name of ['package.json', 'soljson.js'])
    copyFileSync(join(SOLJSON, '..', name), join(place, name));
  expect(await findCompilers(BOUNDS, empty).compile('0.7.6', INPUT)).toMatchObject({ version: VERSION });
});
